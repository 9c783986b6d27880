// SPDX-License-Identifier: MIT
#include "net/address.h"

#include <gtest/gtest.h>
#include <sys/un.h>

namespace titanium::net {
namespace {

TEST(SocketAddress, IsEmptyByDefault) {
  const SocketAddress address;
  EXPECT_TRUE(address.empty());
  EXPECT_EQ(address.length(), 0U);
  EXPECT_EQ(address.port(), 0);
  EXPECT_EQ(address.ip(), "");
  EXPECT_EQ(address.to_string(), "");
  EXPECT_FALSE(address.is_loopback());
  EXPECT_FALSE(address.is_wildcard());
  EXPECT_EQ(address, SocketAddress());
}

struct Literal {
  std::string_view text;
  std::string_view ip;
  std::string_view with_port;  // Port 8080.
  bool ipv6 = false;
  bool loopback = false;
  bool wildcard = false;
};

TEST(SocketAddress, ParsesAndFormatsLiterals) {
  const Literal cases[] = {
      {"127.0.0.1", "127.0.0.1", "127.0.0.1:8080", false, true},
      {"127.255.0.9", "127.255.0.9", "127.255.0.9:8080", false, true},
      {"192.0.2.7", "192.0.2.7", "192.0.2.7:8080"},
      {"0.0.0.0", "0.0.0.0", "0.0.0.0:8080", false, false, true},
      {"::1", "::1", "[::1]:8080", true, true},
      {"[::1]", "::1", "[::1]:8080", true, true},
      {"::", "::", "[::]:8080", true, false, true},
      {"2001:DB8:0::1", "2001:db8::1", "[2001:db8::1]:8080", true},
      {"::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7:8080", true},
      {"::ffff:127.0.0.1", "127.0.0.1", "127.0.0.1:8080", true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.text));
    const auto address = SocketAddress::parse(c.text, 8080);
    ASSERT_TRUE(address.has_value());
    EXPECT_EQ(address->ip(), c.ip);
    EXPECT_EQ(address->to_string(), c.with_port);
    EXPECT_EQ(address->port(), 8080);
    EXPECT_EQ(address->is_ipv6(), c.ipv6);
    EXPECT_EQ(address->is_loopback(), c.loopback);
    EXPECT_EQ(address->is_wildcard(), c.wildcard);
    EXPECT_EQ(SocketAddress(address->get(), address->length()), *address);
  }
}

TEST(SocketAddress, RefusesNamesAndNonsense) {
  using namespace std::literals;
  const std::string_view cases[] = {
      "",
      "localhost",
      "127.1",
      "127.0.0.1.",
      "127.0.0.256",
      "0x7f.0.0.1",
      "127.0.0.1 ",
      " 127.0.0.1",
      "[127.0.0.1]",
      "[]",
      "[::1",
      "::1]",
      "[[::1]]",
      ":::1",
      "::1%lo",
      "1.2.3.4:80",
      "[::1]:80",
      "12345::1",
      "127.0.0.1\0x"sv,
      "::1\0"sv,
      "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001",
  };
  for (const auto text : cases) {
    EXPECT_FALSE(SocketAddress::parse(text, 1).has_value()) << text;
  }
}

TEST(SocketAddress, ComparesFamilyAddressAndPort) {
  const auto a = *SocketAddress::parse("127.0.0.1", 80);
  EXPECT_EQ(a, *SocketAddress::parse("127.0.0.1", 80));
  EXPECT_NE(a, *SocketAddress::parse("127.0.0.1", 81));
  EXPECT_NE(a, *SocketAddress::parse("127.0.0.2", 80));
  EXPECT_NE(a, *SocketAddress::parse("::ffff:127.0.0.1", 80));
  EXPECT_NE(a, SocketAddress());
  EXPECT_NE(*SocketAddress::parse("::1", 80), *SocketAddress::parse("::2", 80));
}

TEST(SocketAddress, ChangesItsPort) {
  for (const auto text : {"127.0.0.1", "::1"}) {
    auto address = *SocketAddress::parse(text, 0);
    address.set_port(65'535);
    EXPECT_EQ(address, *SocketAddress::parse(text, 65'535));
  }
  SocketAddress empty;
  empty.set_port(1);
  EXPECT_TRUE(empty.empty());
}

TEST(SocketAddress, IsEmptyForWhatItCannotHold) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  EXPECT_TRUE(SocketAddress(reinterpret_cast<const sockaddr*>(&path), sizeof path).empty());
  const auto address = *SocketAddress::parse("127.0.0.1", 80);
  EXPECT_TRUE(SocketAddress(address.get(), 0).empty());
  EXPECT_TRUE(SocketAddress(address.get(), address.length() - 1).empty()) << "cut short";
  EXPECT_TRUE(SocketAddress(nullptr, 0).empty());
}

}  // namespace
}  // namespace titanium::net
