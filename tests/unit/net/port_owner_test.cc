// SPDX-License-Identifier: MIT
#include "net/port_owner.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tcp.h"
#include "unit/net/support.h"

namespace titanium::net {
namespace {

TEST(OwnerOfListeningPort, NamesTheProcessForBothFamilies) {
  for (const auto ip : {"127.0.0.1", "0.0.0.0", "::1", "::"}) {
    SCOPED_TRACE(ip);
    const auto socket = listen_tcp(*SocketAddress::parse(ip, 0), {});
    if (!socket) continue;  // No IPv6 on this machine.
    const SocketAddress at = local_address_of(socket->get());
    const std::string owner = owner_of_listening_port(at);
    EXPECT_TRUE(owner.ends_with(fmt::format(" (pid {})", ::getpid()))) << owner;
    EXPECT_GT(owner.size(), fmt::format(" (pid {})", ::getpid()).size()) << "and has a name";
    EXPECT_TRUE(this_process_listens_on(at));
  }
}

TEST(OwnerOfListeningPort, IsEmptyIfNobodyListens) {
  EXPECT_EQ(owner_of_listening_port(SocketAddress()), "");
  // Bound, but not listening.
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress any = testing::loopback(0);
  ASSERT_EQ(::bind(socket.get(), any.get(), any.length()), 0);
  const SocketAddress bound = local_address_of(socket.get());
  EXPECT_EQ(owner_of_listening_port(bound), "");
  EXPECT_FALSE(this_process_listens_on(bound));
}

TEST(ThisProcessListensOn, ComparesTheAddressAndHonoursWildcards) {
  const auto socket = listen_tcp(testing::loopback(0), {});
  ASSERT_TRUE(socket.has_value());
  const std::uint16_t port = local_address_of(socket->get()).port();
  EXPECT_TRUE(this_process_listens_on(*SocketAddress::parse("0.0.0.0", port)));
  EXPECT_FALSE(this_process_listens_on(*SocketAddress::parse("127.0.0.2", port)));
  EXPECT_FALSE(this_process_listens_on(*SocketAddress::parse("::1", port)));
}

}  // namespace
}  // namespace titanium::net
