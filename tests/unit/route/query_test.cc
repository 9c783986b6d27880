// SPDX-License-Identifier: MIT
#include "route/query.h"

#include <gtest/gtest.h>

namespace titanium::route {
namespace {

TEST(QueryHas, ComparesDecodedNamesAndValues) {
  struct Case {
    std::string_view query;
    std::string_view name;
    std::string_view value;
    bool has;
  };
  const Case cases[] = {
      {"a=1", "a", "1", true},       {"a=1", "a", "", false},
      {"a=1", "a", "12", false},     {"a=12", "a", "1", false},
      {"a=1", "A", "1", false},      {"aa=1", "a", "1", false},
      {"b=2&a=1", "a", "1", true},   {"a=2&a=1", "a", "1", true},
      {"a", "a", "", true},          {"a=", "a", "", true},
      {"&&a=1&", "a", "1", true},    {"a=x=y", "a", "x=y", true},
      {"%61=%31", "a", "1", true},   {"a=b+c", "a", "b c", true},
      {"a=b%20c", "a", "b c", true}, {"a=b%2Bc", "a", "b+c", true},
      {"a=%26", "a", "&", true},     {"a=%c3%a9", "a", "\xc3\xa9", true},
      {"a=%", "a", "%", true},       {"a=%4", "a", "%4", true},
      {"a=%zz", "a", "%zz", true},   {"a=%2531", "a", "%31", true},  // Decoded once.
      {"", "a", "", false},          {"", "", "", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(query_has(c.query, c.name, c.value), c.has) << c.query << " " << c.name;
  }
}

}  // namespace
}  // namespace titanium::route
