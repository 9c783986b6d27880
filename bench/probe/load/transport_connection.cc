// SPDX-License-Identifier: MIT
#include "load/transport_connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "net/tcp.h"

namespace titanium::probe {
namespace {

// The name for SNI and verification: the host of the authority.
std::string_view host_of(std::string_view authority) noexcept {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.rfind(':'));
}

// A slow consumer leaves the rest with the kernel, which must not take all of it on our behalf:
// this is the size a connection starts with anyway, without growth.
constexpr int kSlowReceiveBytes = 64 * 1024;

}  // namespace

TransportConnection::TransportConnection(const ClientShared& shared, const Traits& traits)
    : shared_(shared),
      traits_(traits),
      portion_bytes_(traits.paced ? shared.workload.read_chunk_bytes : 0),
      output_(shared.pool),
      read_later_(*this) {}

TransportConnection::~TransportConnection() { shared_.alarms.cancel(*this); }

net::FileDescriptor TransportConnection::connect_socket() noexcept {
  const net::SocketAddress& address = shared_.target.address;
  const int family = address.is_ipv6() ? AF_INET6 : AF_INET;
  net::FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    open_errno_ = errno;
    return socket;
  }
  if (portion_bytes_ > 0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kSlowReceiveBytes, sizeof kSlowReceiveBytes);
  }
  if (::connect(socket.get(), address.get(), address.length()) != 0 && errno != EINPROGRESS) {
    open_errno_ = errno;
    return {};
  }
  return socket;
}

bool TransportConnection::open() {
  net::FileDescriptor socket = connect_socket();
  if (!socket) return false;
  // A transport over a socket that still connects behaves as one that cannot send yet; a refused
  // connection shows as a failed read.
  transport_ = net::make_tcp_transport(shared_.loop, std::move(socket), shared_.target.address,
                                       {.no_delay = true, .keep_alive = false});
  if (shared_.tls != nullptr) {
    auto encrypted = tls::make_tls_client(shared_.loop, shared_.pool, std::move(transport_),
                                          shared_.tls, host_of(shared_.target.authority), *this);
    tls_ = encrypted.get();
    transport_ = std::move(encrypted);
  }
  transport_->set_handler(this);
  return true;
}

std::string TransportConnection::open_error() const {
  return fmt::format("no connection: {}", std::strerror(open_errno_));
}

void TransportConnection::close() noexcept {
  if (transport_ == nullptr) return;
  ++epoch_;
  transport_->set_handler(nullptr);
  shared_.loop.destroy_later(std::move(transport_));
  tls_ = nullptr;
  output_.clear();
  pending_.clear();
  write_broken_ = false;
  restart_portion();
}

void TransportConnection::close_hard() noexcept {
  if (transport_ != nullptr) transport_->abort_on_close();
  close();
}

void TransportConnection::on_handshake(Result<> result) {
  if (tls_ == nullptr) return;
  if (result) {
    if (traits_.alpn.empty() || tls_->alpn() == traits_.alpn) return;
    return end(fmt::format("the peer did not choose {} (ALPN)", traits_.alpn), {});
  }
  end(fmt::format("TLS handshake: {}", tls_->detail()), result.error());
}

void TransportConnection::flush() {
  if (transport_ == nullptr || output_.empty()) return;
  if (!transport_->write(output_)) {
    // What the peer said before it went may be the whole answer. No event tells of it any more.
    write_broken_ = true;
    output_.clear();
    shared_.loop.defer(read_later_);
  }
  if (output_.empty()) on_sent();
}

void TransportConnection::restart_portion() noexcept {
  if (portion_bytes_ == 0) return;
  portion_ = portion_bytes_;
  if (!std::exchange(paused_, false)) return;
  shared_.alarms.cancel(*this);
}

void TransportConnection::on_alarm() {
  paused_ = false;
  portion_ = portion_bytes_;
  read_all();
}

void TransportConnection::read_all() {
  while (transport_ != nullptr && !paused_) {
    const std::span room(shared_.scratch.chunk->data(), std::min(shared_.scratch.size(), portion_));
    const net::ReadResult result = transport_->read(room);
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        if (portion_bytes_ > 0) portion_ -= result.bytes;
        if (!deliver(as_text(room.first(result.bytes)))) return;
        if (portion_ == 0) {
          paused_ = true;
          shared_.alarms.set(
              *this, net::Clock::now() + std::chrono::milliseconds(shared_.workload.read_pause_ms));
        }
        break;
      case net::ReadResult::Status::would_block:
        return;
      case net::ReadResult::Status::end:
        return end("the connection was closed", {});
      case net::ReadResult::Status::truncated:
        return end("the connection was closed without close_notify", {});
      case net::ReadResult::Status::failed:
        return end("the connection broke", result.error);
    }
  }
}

bool TransportConnection::deliver(std::string_view bytes) {
  const std::uint32_t from = epoch_;
  const bool continued = !pending_.empty();
  if (continued) {
    pending_.append(bytes);
    bytes = pending_;
  }
  const std::size_t used = consume(bytes);
  if (epoch_ != from) return false;
  if (continued) {
    pending_.erase(0, used);
  } else if (used < bytes.size()) {
    pending_.assign(bytes.substr(used));
  }
  return true;
}

void TransportConnection::end(std::string_view what, const Error& error) {
  constexpr int kMostErrno = 200;  // What is above are numbers of OpenSSL.
  if (error.native > 0 && error.native < kMostErrno && error.code != Code::tls &&
      error.code != Code::certificate) {
    return on_ended(fmt::format("{}: {}", what, std::strerror(error.native)));
  }
  on_ended(error.what.empty() ? std::string(what) : fmt::format("{}: {}", what, error.what));
}

}  // namespace titanium::probe
