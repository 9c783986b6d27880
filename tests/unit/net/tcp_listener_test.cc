// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <vector>

#include "net/tcp.h"
#include "unit/net/failing_calls.h"
#include "unit/net/support.h"

namespace titanium::net {
namespace {

using testing::failing_calls;
using testing::LogRecorder;
using testing::run_idle;
using testing::run_until;

struct Acceptor final : AcceptHandler {
  void on_accept(FileDescriptor socket, const SocketAddress& peer) override {
    sockets.push_back(std::move(socket));
    peers.push_back(peer);
    if (then) then();
  }
  std::vector<FileDescriptor> sockets;
  std::vector<SocketAddress> peers;
  std::function<void()> then;
};

FileDescriptor connect_to(const SocketAddress& address) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), address.get(), address.length()), 0);
  return socket;
}

class TcpListenerTest : public ::testing::Test {
 protected:
  TcpListenerTest() {
    auto socket = listen_tcp(testing::loopback(0), {});
    EXPECT_TRUE(socket.has_value());
    listener = std::make_unique<TcpListener>(loop, std::move(*socket), acceptor,
                                             Logger(log, LogLevel::trace));
    address = listener->local_address();
  }
  [[nodiscard]] std::size_t accepted() const { return acceptor.sockets.size(); }

  EventLoop loop;
  Acceptor acceptor;
  LogRecorder log;
  std::unique_ptr<TcpListener> listener;
  SocketAddress address;
};

TEST_F(TcpListenerTest, HandsOverNonBlockingSocketsWithTheirPeer) {
  const FileDescriptor client = connect_to(address);
  ASSERT_TRUE(run_until(loop, [&] { return accepted() == 1; }));
  EXPECT_EQ(acceptor.peers[0], local_address_of(client.get()));
  const int fd = acceptor.sockets[0].get();
  EXPECT_TRUE((::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
  EXPECT_TRUE((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  int no_delay = 0;
  socklen_t length = sizeof no_delay;
  ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &length);
  EXPECT_NE(no_delay, 0) << "handed down by the listening socket";
}

TEST_F(TcpListenerTest, AcceptsAFloodInBatches) {
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 2 * TcpListener::kBatch + 5; ++i) clients.push_back(connect_to(address));
  std::size_t most_in_a_turn = 0;
  ASSERT_TRUE(run_until(loop, [&] {
    const std::size_t before = accepted();
    loop.run_once(Duration(0));
    most_in_a_turn = std::max(most_in_a_turn, accepted() - before);
    return accepted() == clients.size();
  }));
  EXPECT_LE(most_in_a_turn, static_cast<std::size_t>(TcpListener::kBatch));
}

TEST_F(TcpListenerTest, KeepsConnectionsInTheBacklogWhilePaused) {
  listener->pause();
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect_to(address));
  run_idle(loop);
  EXPECT_EQ(accepted(), 0U);
  listener->resume();
  EXPECT_EQ(accepted(), 0U) << "not from within resume()";
  ASSERT_TRUE(run_until(loop, [&] { return accepted() == 3; }));
}

TEST_F(TcpListenerTest, MayBePausedByItsHandlerAfterEachConnection) {
  acceptor.then = [&] { listener->pause(); };
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect_to(address));
  for (std::size_t i = 1; i <= 3; ++i) {
    run_idle(loop);
    EXPECT_EQ(accepted(), i);
    listener->resume();
  }
}

TEST_F(TcpListenerTest, MayBeClosedByItsHandler) {
  acceptor.then = [&] { listener->close(); };
  const FileDescriptor first = connect_to(address);
  const FileDescriptor second = connect_to(address);
  run_idle(loop);
  EXPECT_EQ(accepted(), 1U);
  const FileDescriptor third(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(third.get(), address.get(), address.length()), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_F(TcpListenerTest, SkipsConnectionsThatWereResetInTheBacklog) {
  {
    const FileDescriptor client = connect_to(address);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  const FileDescriptor good = connect_to(address);
  // Linux may hand over the dead one, too; the one that lives has to come in any case.
  ASSERT_TRUE(run_until(
      loop, [&] { return std::ranges::contains(acceptor.peers, local_address_of(good.get())); }));
}

// Runs the loop for some rounds of pausing; no busy loop meanwhile.
void run_paused(EventLoop& loop) {
  const TimePoint end = Clock::now() + TcpListener::kPause * 4;
  int turns = 0;
  while (Clock::now() < end) {
    loop.run_once(Duration(50));
    ++turns;
  }
  EXPECT_LT(turns, 40);
}

TEST_F(TcpListenerTest, PausesWhateverTheKernelLacksSaysSoOnceAndGoesOn) {
  struct Case {
    int error;
    std::string_view says;
  };
  const Case cases[] = {
      {EMFILE, "accept paused: out of file descriptors (limit "},
      {ENFILE, "accept paused: the system is out of file descriptors"},
      {ENOBUFS, "accept paused: the kernel is out of memory"},
      {ENOMEM, "accept paused: the kernel is out of memory"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.says));
    LogRecorder lines;
    Acceptor taken;
    auto socket = listen_tcp(testing::loopback(0), {});
    ASSERT_TRUE(socket.has_value());
    const TcpListener paused(loop, std::move(*socket), taken, Logger(lines, LogLevel::trace));
    const FileDescriptor client = connect_to(paused.local_address());
    failing_calls().accept4 = c.error;
    run_paused(loop);
    failing_calls().accept4 = 0;
    EXPECT_EQ(taken.sockets.size(), 0U);
    ASSERT_EQ(lines.lines.size(), 1U);
    EXPECT_NE(lines.lines[0].find(c.says), std::string::npos) << lines.lines[0];
    EXPECT_TRUE(run_until(loop, [&] { return taken.sockets.size() == 1; }));
  }
}

TEST_F(TcpListenerTest, IgnoresFailuresThatConcernOneConnection) {
  for (const int error : {ECONNABORTED, EPROTO, EPERM, ENETDOWN, EHOSTUNREACH, EINTR}) {
    SCOPED_TRACE(error);
    const std::size_t before = accepted();
    const FileDescriptor client = connect_to(address);
    failing_calls().accept4 = error;
    loop.run_once(Duration(1000));  // A batch of failures, and the rest in the next turn.
    failing_calls().accept4 = 0;
    ASSERT_TRUE(run_until(loop, [&] { return accepted() == before + 1; }));
  }
  EXPECT_TRUE(log.lines.empty());
}

TEST_F(TcpListenerTest, StartsLaterIfTheKernelTakesNoMoreWatches) {
  auto socket = listen_tcp(testing::loopback(0), {});
  ASSERT_TRUE(socket.has_value());
  failing_calls().epoll_ctl = ENOSPC;
  const TcpListener late(loop, std::move(*socket), acceptor, Logger(log, LogLevel::trace));
  const FileDescriptor client = connect_to(late.local_address());
  run_paused(loop);
  EXPECT_EQ(accepted(), 0U);
  EXPECT_EQ(log.lines.size(), 1U);
  failing_calls().epoll_ctl = 0;
  EXPECT_TRUE(run_until(loop, [&] { return accepted() == 1; }));
}

// Lets the process open no further descriptor.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &former_);
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = former_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    limit = none.rlim_cur;
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &former_); }
  rlim_t limit = 0;

 private:
  rlimit former_{};
};

TEST_F(TcpListenerTest, PausesWhenDescriptorsRunOutSaysSoOnceAndGoesOn) {
  {
    // A rehearsal: UBSan opens a pipe when it meets a type for the first time, and reports an error
    // if it gets none. It has met all of them after this.
    LogRecorder lines;
    auto socket = listen_tcp(testing::loopback(0), {});
    const TcpListener rehearsal(loop, std::move(*socket), acceptor, Logger(lines, LogLevel::trace));
    const FileDescriptor client = connect_to(rehearsal.local_address());
    failing_calls().accept4 = EMFILE;
    run_paused(loop);
    failing_calls().accept4 = 0;
    ASSERT_EQ(lines.lines.size(), 1U);
  }
  const std::size_t before = accepted();
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(connect_to(address));
  {
    const NoMoreDescriptors none;
    run_paused(loop);
    EXPECT_EQ(accepted(), before);
    ASSERT_EQ(log.lines.size(), 1U);
    EXPECT_EQ(log.levels[0], LogLevel::warning);
    EXPECT_EQ(log.lines[0],
              fmt::format("{}: accept paused: out of file descriptors (limit {}, raise with "
                          "ulimit -n)",
                          address.to_string(), none.limit));
  }
  ASSERT_TRUE(run_until(loop, [&] { return accepted() == before + 3; }));
  EXPECT_EQ(log.lines.size(), 1U);
}

}  // namespace
}  // namespace titanium::net
