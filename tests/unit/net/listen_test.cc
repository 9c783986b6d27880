// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "net/port_owner.h"
#include "net/tcp.h"
#include "unit/net/support.h"

namespace titanium::net {
namespace {

using testing::loopback;

SocketAddress address(std::string_view ip, std::uint16_t port) {
  return *SocketAddress::parse(ip, port);
}

bool has_ipv6() { return listen_tcp(address("::1", 0), {}).has_value(); }

// Another process that listens on a port of its own with SO_REUSEPORT, until this object dies.
class OtherProcess {
 public:
  OtherProcess() {
    std::array<int, 2> up{};
    std::array<int, 2> down{};
    EXPECT_EQ(::pipe(up.data()), 0);
    EXPECT_EQ(::pipe(down.data()), 0);
    pid = ::fork();
    if (pid == 0) {
      ::close(down[1]);
      const auto socket = listen_tcp(loopback(0), {});
      const std::uint16_t taken = socket ? local_address_of(socket->get()).port() : 0;
      char byte;
      // Ends when the parent closes its end, or is gone.
      if (::write(up[1], &taken, sizeof taken) > 0) (void)!::read(down[0], &byte, 1);
      ::_exit(0);
    }
    ::close(up[1]);
    ::close(down[0]);
    until_closed = down[1];
    EXPECT_EQ(::read(up[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    ::close(up[0]);
  }
  ~OtherProcess() {
    ::close(until_closed);
    ::waitpid(pid, nullptr, 0);
  }

  pid_t pid = -1;
  std::uint16_t port = 0;

 private:
  int until_closed = -1;
};

TEST(ListenTcp, TakesAFreePort) {
  const auto socket = listen_tcp(loopback(0), {});
  ASSERT_TRUE(socket.has_value());
  const SocketAddress bound = local_address_of(socket->get());
  EXPECT_EQ(bound.ip(), "127.0.0.1");
  EXPECT_NE(bound.port(), 0);
}

TEST(ListenTcp, SharesAPortAmongTheWorkersOfThisProcessIfAsked) {
  const auto first = listen_tcp(loopback(0), {});
  ASSERT_TRUE(first.has_value());
  const SocketAddress taken = local_address_of(first->get());
  EXPECT_TRUE(this_process_listens_on(taken));
  EXPECT_TRUE(listen_tcp(taken, {}).has_value());
  const auto alone = listen_tcp(taken, {.reuse_port = false});
  ASSERT_FALSE(alone.has_value());
  EXPECT_EQ(alone.error().native, EADDRINUSE);
}

TEST(ListenTcp, RefusesAPortThatAnotherProcessHasAndFindsItsOwner) {
  const OtherProcess other;
  ASSERT_NE(other.port, 0);
  for (const auto ip : {"127.0.0.1", "0.0.0.0"}) {
    for (const bool reuse : {true, false}) {
      SCOPED_TRACE(::testing::Message() << ip << (reuse ? ", shared" : ", alone"));
      const auto socket = listen_tcp(address(ip, other.port), {.reuse_port = reuse});
      ASSERT_FALSE(socket.has_value());
      EXPECT_EQ(socket.error().code, Code::config);
      EXPECT_EQ(socket.error().native, EADDRINUSE);
      EXPECT_EQ(socket.error().what, "the port is taken");
    }
    const std::string owner = owner_of_listening_port(address(ip, other.port));
    EXPECT_TRUE(owner.ends_with(fmt::format(" (pid {})", other.pid))) << owner;
  }
  EXPECT_FALSE(this_process_listens_on(loopback(other.port)));
}

TEST(ListenTcp, ListensAgainRightAfterAConnectionWasClosed) {
  std::uint16_t port = 0;
  {
    const auto socket = listen_tcp(loopback(0), {});
    ASSERT_TRUE(socket.has_value());
    const SocketAddress bound = local_address_of(socket->get());
    port = bound.port();
    const FileDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(client.get(), bound.get(), bound.length()), 0);
    // Our side closes first, so it is the one that stays in TIME_WAIT.
    const FileDescriptor accepted(::accept4(socket->get(), nullptr, nullptr, SOCK_CLOEXEC));
    ::shutdown(accepted.get(), SHUT_WR);
  }
  EXPECT_TRUE(listen_tcp(loopback(port), {}).has_value());
}

TEST(ListenTcp, SaysWhatIsWrongWithAnAddress) {
  const auto foreign = listen_tcp(address("192.0.2.1", 0), {});
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().code, Code::config);
  EXPECT_EQ(foreign.error().native, EADDRNOTAVAIL);
  EXPECT_EQ(foreign.error().what, "the machine does not have this address");
  EXPECT_FALSE(listen_tcp(SocketAddress(), {}).has_value());
}

TEST(ListenTcp, LeavesIpv4AloneWhenItListensOnIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  const auto v6 = listen_tcp(address("::", 0), {});
  ASSERT_TRUE(v6.has_value());
  const std::uint16_t port = local_address_of(v6->get()).port();
  EXPECT_TRUE(listen_tcp(address("0.0.0.0", port), {}).has_value());
}

TEST(LocalAddressOf, IsEmptyForWhatIsNoInternetSocket) {
  EXPECT_TRUE(local_address_of(-1).empty());
  EXPECT_TRUE(local_address_of(STDIN_FILENO).empty());
}

}  // namespace
}  // namespace titanium::net
