// SPDX-License-Identifier: MIT
#include "net/dns/address_order.h"

#include <gtest/gtest.h>

#include <string>

namespace titanium::net {
namespace {

using Texts = std::vector<std::string>;

Texts ordered(const Texts& texts, bool ipv6_last) {
  std::vector<SocketAddress> addresses;
  for (const auto& text : texts) addresses.push_back(*SocketAddress::parse(text, 1));
  Texts result;
  for (const auto& address : interleave_families(addresses, ipv6_last)) {
    result.push_back(address.ip());
  }
  return result;
}

struct Case {
  std::string_view name;
  Texts in;
  Texts interleaved;
  Texts ipv6_last;
};

TEST(InterleaveFamilies, TakesTurnsBeginningWithTheFirstFamily) {
  const Case cases[] = {
      {"nothing", {}, {}, {}},
      {"one", {"::1"}, {"::1"}, {"::1"}},
      {"one family", {"::1", "::2"}, {"::1", "::2"}, {"::1", "::2"}},
      {"IPv6 first",
       {"::1", "::2", "::3", "10.0.0.1", "10.0.0.2"},
       {"::1", "10.0.0.1", "::2", "10.0.0.2", "::3"},
       {"10.0.0.1", "10.0.0.2", "::1", "::2", "::3"}},
      {"IPv4 first",
       {"10.0.0.1", "10.0.0.2", "10.0.0.3", "::1"},
       {"10.0.0.1", "::1", "10.0.0.2", "10.0.0.3"},
       {"10.0.0.1", "10.0.0.2", "10.0.0.3", "::1"}},
      {"fewer of the first family",
       {"::1", "10.0.0.1", "10.0.0.2"},
       {"::1", "10.0.0.1", "10.0.0.2"},
       {"10.0.0.1", "10.0.0.2", "::1"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    EXPECT_EQ(ordered(c.in, false), c.interleaved);
    EXPECT_EQ(ordered(c.in, true), c.ipv6_last);
  }
}

}  // namespace
}  // namespace titanium::net
