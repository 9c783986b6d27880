// SPDX-License-Identifier: MIT
#include "net/tcp_transport.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

#include "base/assert.h"

namespace titanium::net {
namespace {

void switch_on(int fd, int level, int option) noexcept {
  const int on = 1;
  // Refused by sockets that are not TCP, where it makes no difference.
  ::setsockopt(fd, level, option, &on, sizeof on);
}

}  // namespace

TcpTransport::TcpTransport(EventLoop& loop, FileDescriptor socket, const SocketAddress& peer,
                           const SocketOptions& options)
    : loop_(loop), socket_(std::move(socket)), peer_(peer) {
  if (options.no_delay) switch_on(socket_.get(), IPPROTO_TCP, TCP_NODELAY);
  if (options.keep_alive) switch_on(socket_.get(), SOL_SOCKET, SO_KEEPALIVE);
  if (!loop_.watch(socket_.get(), *this)) {
    // A connection that never gets events would hang: it is dead from the start instead.
    error_ = ENOSPC;
    readable_ = ending_ = true;
  }
}

TcpTransport::~TcpTransport() {
  loop_.forget(*this);
  if (!abort_on_close_) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

int TcpTransport::take_connect_error() noexcept {
  wants_writable_ = false;
  if (ending_) fetch_error();
  return error_;
}

void TcpTransport::fetch_error() noexcept {
  if (error_ != 0) return;
  socklen_t length = sizeof error_;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_, &length) != 0) error_ = errno;
}

void TcpTransport::on_ready(Readiness ready) {
  if (ready.readable) {
    readable_ = unreported_ = true;
    drained_ = false;
  }
  if (ready.writable) blocked_ = false;
  if (ready.peer_closed || ready.failed) ending_ = true;
  // A reset that follows a FIN is told here and nowhere else: recv() goes on saying "end".
  if (ready.failed) fetch_error();
  report();
}

// Either callback may have replaced the handler, and the first one may have read or written.
void TcpTransport::report() {
  if (unreported_ && readable_ && handler_ != nullptr) {
    unreported_ = false;
    handler_->on_readable();
  }
  if (wants_writable_ && !blocked_ && handler_ != nullptr) {
    wants_writable_ = false;
    handler_->on_writable();
  }
}

void TcpTransport::set_handler(TransportHandler* handler) noexcept {
  handler_ = handler;
  unreported_ = readable_;
  if (handler_ != nullptr && (unreported_ || (wants_writable_ && !blocked_))) loop_.defer(*this);
}

Error TcpTransport::remember_failure(int error) noexcept {
  error_ = error;
  // After a failed write there may be an early answer to read, and then the failure once more.
  ending_ = true;
  drained_ = false;
  return {.code = Code::closed, .native = error, .what = "the connection failed"};
}

ReadResult TcpTransport::read(std::span<std::uint8_t> into) {
  TI_ASSERT(!into.empty());
  if (drained_) return {.status = ReadResult::Status::would_block};
  ssize_t got;
  do {
    got = ::recv(socket_.get(), into.data(), into.size(), 0);
  } while (got < 0 && errno == EINTR);

  if (got > 0) {
    // A short read took all there is, and what comes later makes a new event. After FIN or an error
    // there is no new event: then the reader has to go on until it sees the end.
    if (static_cast<std::size_t>(got) < into.size() && !ending_) {
      drained_ = true;
      readable_ = false;
    }
    return {.status = ReadResult::Status::bytes, .bytes = static_cast<std::size_t>(got)};
  }
  // The kernel tells about a failure once. Later reads, or a read after the write that was told,
  // return 0, which must not pass for an orderly end.
  if (got == 0 && error_ == 0) return {.status = ReadResult::Status::end};
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && error_ == 0) {
    drained_ = true;
    readable_ = false;
    return {.status = ReadResult::Status::would_block};
  }
  return {.status = ReadResult::Status::failed,
          .error = remember_failure(error_ != 0 ? error_ : errno)};
}

namespace {

// One piece, as most messages are, is spared the kernel's import of a vector.
ssize_t send_pieces(int socket, std::span<iovec> pieces, int flags) {
  if (pieces.size() == 1) return ::send(socket, pieces[0].iov_base, pieces[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return ::sendmsg(socket, &message, flags);
}

}  // namespace

Result<> TcpTransport::write(ChunkQueue& from) {
  if (error_ != 0) return std::unexpected(remember_failure(error_));
  while (!from.empty() && !blocked_) {
    std::array<iovec, 64> pieces;
    const auto filled = from.gather(pieces);
    std::size_t bytes = 0;
    for (const iovec& piece : filled) bytes += piece.iov_len;

    const int flags = MSG_NOSIGNAL | (bytes < from.size() ? MSG_MORE : 0);
    const ssize_t sent = send_pieces(socket_.get(), filled, flags);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(remember_failure(errno));
      blocked_ = true;
      break;
    }
    from.consume(static_cast<std::size_t>(sent));
    // The next call would say EAGAIN; the event that ends that state is certain already.
    blocked_ = static_cast<std::size_t>(sent) < bytes;
  }
  wants_writable_ = !from.empty();
  return {};
}

void TcpTransport::shutdown_write() {
  // Fails only if the connection is gone, which the next read tells.
  ::shutdown(socket_.get(), SHUT_WR);
}

bool TcpTransport::is_stale() {
  if (ending_ || error_ != 0) return true;
  char byte;
  const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

const SocketAddress& TcpTransport::local_address() const noexcept {
  if (local_.empty()) local_ = local_address_of(socket_.get());
  return local_;
}

std::unique_ptr<Transport> make_tcp_transport(EventLoop& loop, FileDescriptor socket,
                                              const SocketAddress& peer,
                                              const SocketOptions& options) {
  return std::make_unique<TcpTransport>(loop, std::move(socket), peer, options);
}

}  // namespace titanium::net
