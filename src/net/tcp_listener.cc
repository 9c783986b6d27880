// SPDX-License-Identifier: MIT
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "net/tcp.h"

namespace titanium::net {
namespace {

// accept4(2): what lacks descriptors or memory, in the words of the person who can help.
bool is_exhaustion(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

unsigned long long descriptor_limit() noexcept {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace

TcpListener::TcpListener(EventLoop& loop, FileDescriptor socket, AcceptHandler& handler,
                         Logger logger)
    : loop_(loop),
      socket_(std::move(socket)),
      handler_(handler),
      logger_(logger),
      local_(local_address_of(socket_.get())),
      retry_(loop, *this) {
  watched_ = loop_.watch(socket_.get(), *this);
  if (!watched_) wait_for_resources(ENOMEM);
}

TcpListener::~TcpListener() { close(); }

void TcpListener::close() noexcept {
  loop_.forget(*this);
  retry_.disarm();
  pending_ = false;
  socket_ = FileDescriptor();
}

void TcpListener::pause() noexcept { paused_ = true; }

void TcpListener::resume() {
  paused_ = false;
  if (pending_) loop_.defer_to_next_turn(*this);
}

bool TcpListener::may_accept() const noexcept {
  return static_cast<bool>(socket_) && !paused_ && !retry_.is_armed();
}

void TcpListener::on_ready(Readiness) {
  pending_ = true;
  accept_batch();
}

void TcpListener::on_turn_end() {
  if (pending_) accept_batch();
}

void TcpListener::on_timer(Timer&) {
  if (!watched_) watched_ = loop_.watch(socket_.get(), *this);
  if (!watched_) {
    wait_for_resources(ENOMEM);
  } else if (pending_) {
    accept_batch();
  }
}

void TcpListener::accept_batch() {
  for (int accepted = 0; accepted < kBatch;) {
    if (!may_accept()) return;
    sockaddr_storage peer;
    socklen_t length = sizeof peer;
    FileDescriptor socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                                    SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        pending_ = false;
        return;
      }
      if (is_exhaustion(errno)) {
        wait_for_resources(errno);
        return;
      }
      // Everything else concerns the one connection, which was gone before we took it (accept(2)).
    } else {
      handler_.on_accept(std::move(socket),
                         SocketAddress(reinterpret_cast<const sockaddr*>(&peer), length));
    }
    ++accepted;
  }
  if (may_accept()) loop_.defer_to_next_turn(*this);
}

void TcpListener::wait_for_resources(int error) {
  retry_.arm(kPause);
  if (!exhausted_.pass(loop_.now())) return;
  switch (error) {
    case EMFILE:
      logger_.log(LogLevel::warning,
                  "{}: accept paused: out of file descriptors (limit {}, raise with ulimit -n)",
                  local_.to_string(), descriptor_limit());
      return;
    case ENFILE:
      logger_.log(LogLevel::warning,
                  "{}: accept paused: the system is out of file descriptors (raise fs.file-max)",
                  local_.to_string());
      return;
    default:
      logger_.log(LogLevel::warning, "{}: accept paused: the kernel is out of memory",
                  local_.to_string());
  }
}

}  // namespace titanium::net
