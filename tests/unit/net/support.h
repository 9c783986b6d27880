// SPDX-License-Identifier: MIT
//
// What the tests of this layer share.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/log.h"
#include "net/event_loop.h"
#include "net/tcp.h"

namespace titanium::net::testing {

// Runs turns until `done()`; false after ten seconds, which no test is meant to take.
template <typename Done>
[[nodiscard]] bool run_until(EventLoop& loop, Done done) {
  const TimePoint end = Clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (Clock::now() > end) return false;
    loop.run_once(Duration(50));
  }
  return true;
}

// Runs turns until nothing is left to report; for "nothing else happens".
inline void run_idle(EventLoop& loop) {
  for (int i = 0; i < 5; ++i) loop.run_once(Duration(2));
}

inline SocketAddress loopback(std::uint16_t port) {
  return *SocketAddress::parse("127.0.0.1", port);
}

// Both ends of a TCP connection over loopback. `ours` is non-blocking, `theirs` blocks for at most
// ten seconds.
struct TcpPair {
  explicit TcpPair(int their_receive_buffer = 0) {
    auto listening = listen_tcp(loopback(0), {.reuse_port = false, .accepted = {false, false}});
    EXPECT_TRUE(listening.has_value());
    const SocketAddress address = local_address_of(listening->get());
    theirs = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (their_receive_buffer > 0) {
      ::setsockopt(theirs.get(), SOL_SOCKET, SO_RCVBUF, &their_receive_buffer,
                   sizeof their_receive_buffer);
    }
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(theirs.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(theirs.get(), address.get(), address.length()), 0);
    ours =
        FileDescriptor(::accept4(listening->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    EXPECT_TRUE(static_cast<bool>(ours));
  }

  void send(std::string_view text) const {
    EXPECT_EQ(::send(theirs.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // One recv(2): the bytes, or "" at the end and on an error (then errno tells).
  [[nodiscard]] std::string receive(std::size_t most = 65'536) const {
    std::string bytes(most, '\0');
    errno = 0;
    const ssize_t got = ::recv(theirs.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  void finish() const { ::shutdown(theirs.get(), SHUT_WR); }
  void close() { theirs = FileDescriptor(); }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(theirs.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  FileDescriptor ours;
  FileDescriptor theirs;
};

class LogRecorder final : public LogSink {
 public:
  void write(LogLevel level, std::string_view line) noexcept override {
    levels.push_back(level);
    lines.emplace_back(line);
  }
  std::vector<LogLevel> levels;
  std::vector<std::string> lines;
};

}  // namespace titanium::net::testing
