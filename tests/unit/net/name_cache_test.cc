// SPDX-License-Identifier: MIT
#include "net/dns/name_cache.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace titanium::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{std::chrono::hours(1)};

NameCache::Answer good() { return std::vector{*SocketAddress::parse("192.0.2.1", 0)}; }
NameCache::Answer bad() {
  return std::unexpected(Error{.code = Code::unavailable, .what = "name not found"});
}

TEST(NameCache, KeepsAnswersForTheirTtlWithinBounds) {
  struct Case {
    std::string_view name;
    NameCache::Answer answer;
    seconds ttl;
    seconds kept;
  };
  const Case cases[] = {
      {"as the server says", good(), seconds(60), seconds(60)},
      {"zero, as of the hosts file", good(), seconds(0), seconds(1)},
      {"negative", good(), seconds(-5), seconds(1)},
      {"longest", good(), seconds(300), seconds(300)},
      {"longer", good(), seconds(86'400), seconds(300)},
      {"failure", bad(), seconds(0), seconds(1)},
      {"failure with a ttl", bad(), seconds(60), seconds(1)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    NameCache cache(10);
    cache.put("a.test", c.answer, c.ttl, kNow);
    const auto* found = cache.find("a.test", kNow + c.kept - milliseconds(1));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->has_value(), c.answer.has_value());
    EXPECT_EQ(cache.find("a.test", kNow + c.kept), nullptr);
    EXPECT_EQ(cache.find("b.test", kNow), nullptr);
  }
}

TEST(NameCache, DropsTheOldestWhenFull) {
  NameCache cache(100);
  for (int i = 0; i < 150; ++i) {
    cache.put(fmt::format("{}.test", i), good(), seconds(60), kNow);
    EXPECT_LE(cache.size(), 100U);
  }
  EXPECT_EQ(cache.find("49.test", kNow), nullptr);
  EXPECT_NE(cache.find("50.test", kNow), nullptr);
  EXPECT_NE(cache.find("149.test", kNow), nullptr);
}

TEST(NameCache, CountsARenewedAnswerAsNew) {
  NameCache cache(2);
  cache.put("old.test", bad(), seconds(60), kNow);
  cache.put("other.test", good(), seconds(60), kNow);
  cache.put("old.test", good(), seconds(60), kNow + seconds(5));
  EXPECT_EQ(cache.size(), 2U);
  cache.put("new.test", good(), seconds(60), kNow);
  EXPECT_EQ(cache.find("other.test", kNow), nullptr);
  const auto* renewed = cache.find("old.test", kNow + seconds(64));
  ASSERT_NE(renewed, nullptr);
  EXPECT_TRUE(renewed->has_value());
}

}  // namespace
}  // namespace titanium::net
