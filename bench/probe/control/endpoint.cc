// SPDX-License-Identifier: MIT
#include "control/endpoint.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace titanium::probe::control {

Endpoint::Endpoint(Worker& worker, net::FileDescriptor socket, SslHandle tls, EndpointOwner* owner)
    : worker_(worker), socket_(std::move(socket)), tls_(std::move(tls)), owner_(owner) {
  const int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (tls_ != nullptr) SSL_set_fd(tls_.get(), socket_.get());
  worker_.watch(socket_.get(), *this);
}

Endpoint::~Endpoint() {
  if (tls_ != nullptr && !broken_ && !end_sent_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }
}

std::unique_ptr<Endpoint> Endpoint::connect(Worker& worker, std::uint16_t port,
                                            EndpointOwner* owner) {
  net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!socket ||
      (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
       errno != EINPROGRESS)) {
    return nullptr;
  }
  return std::make_unique<Endpoint>(worker, std::move(socket), nullptr, owner);
}

void Endpoint::on_events(std::uint32_t events) {
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (ended || (events & EPOLLIN) != 0) readable_ = true;
  if (ended) ending_ = true;
  // TLS may have to read before it can write.
  if ((events & EPOLLOUT) != 0 || tls_ != nullptr) can_write_ = true;
  flush();
  if (owner_ != nullptr) owner_->on_endpoint(*this);
}

// Reading ---------------------------------------------------------------------------------------

Endpoint::Got Endpoint::read() {
  if (broken_) return {.status = Status::failed, .bytes = {}};
  if (!readable_) return {};
  return tls_ == nullptr ? read_clear() : read_tls();
}

Endpoint::Got Endpoint::read_clear() {
  std::vector<char>& scratch = worker_.scratch();
  const ssize_t got = ::recv(socket_.get(), scratch.data(), scratch.size(), 0);
  if (got > 0) {
    const auto length = static_cast<std::size_t>(got);
    // A short read took everything, and what comes later makes an event; FIN does not make another.
    if (length < scratch.size() && !ending_) readable_ = false;
    return {.status = Status::bytes, .bytes = {scratch.data(), length}};
  }
  if (got == 0) return {.status = Status::ended, .bytes = {}};
  if (errno == EAGAIN || errno == EINTR) {
    readable_ = errno == EINTR;
    return {};
  }
  broken_ = true;
  return {.status = Status::failed, .bytes = {}};
}

Endpoint::Got Endpoint::read_tls() {
  std::vector<char>& scratch = worker_.scratch();
  ERR_clear_error();
  std::size_t got = 0;
  const int outcome = SSL_read_ex(tls_.get(), scratch.data(), scratch.size(), &got);
  if (outcome == 1) return {.status = Status::bytes, .bytes = {scratch.data(), got}};
  switch (SSL_get_error(tls_.get(), outcome)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      readable_ = false;
      return {};
    case SSL_ERROR_ZERO_RETURN:
      return {.status = Status::ended, .bytes = {}};
    default:
      broken_ = true;
      return {.status = Status::failed, .bytes = {}};
  }
}

// Writing ---------------------------------------------------------------------------------------

std::ptrdiff_t Endpoint::write_some(std::string_view bytes) {
  if (broken_) return -1;
  if (!can_write_ || bytes.empty()) return 0;
  if (tls_ != nullptr) return write_tls(bytes);
  const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    can_write_ = static_cast<std::size_t>(sent) == bytes.size();
    return sent;
  }
  // ENOTCONN: still connecting.
  if (errno == EAGAIN || errno == EINTR || errno == ENOTCONN) {
    can_write_ = errno == EINTR;
    return 0;
  }
  broken_ = true;
  return -1;
}

std::ptrdiff_t Endpoint::write_tls(std::string_view bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    ERR_clear_error();
    std::size_t sent = 0;
    const int outcome = SSL_write_ex(tls_.get(), bytes.data() + total, bytes.size() - total, &sent);
    if (outcome == 1) {
      total += sent;
      continue;
    }
    const int error = SSL_get_error(tls_.get(), outcome);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      broken_ = true;
      return -1;
    }
    can_write_ = false;
    break;
  }
  return static_cast<std::ptrdiff_t>(total);
}

bool Endpoint::send(std::string_view bytes) {
  if (!is_blocked()) {
    const std::ptrdiff_t sent = write_some(bytes);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (!bytes.empty()) backlog_.append(bytes);
  return !broken_;
}

void Endpoint::flush() {
  while (is_blocked() && can_write_) {
    const std::ptrdiff_t sent = write_some(std::string_view(backlog_).substr(sent_));
    if (sent < 0) return;
    sent_ += static_cast<std::size_t>(sent);
  }
  if (is_blocked()) return;
  backlog_.clear();
  sent_ = 0;
  if (end_wanted_ && !end_sent_) end_write();
}

void Endpoint::shutdown_write() {
  end_wanted_ = true;
  if (!is_blocked() && !end_sent_) end_write();
}

void Endpoint::end_write() {
  end_sent_ = true;
  if (tls_ != nullptr && !broken_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace titanium::probe::control
