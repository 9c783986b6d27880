// SPDX-License-Identifier: MIT
#include "base/try.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"

namespace titanium {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') {
    return std::unexpected(Error{.code = Code::protocol,
                                 .side = Side::origin,
                                 .retry = Retry::if_idempotent,
                                 .status = 418,
                                 .native = 7,
                                 .what = "not a digit"});
  }
  return c - '0';
}

Result<> check_digit(char c) {
  TI_TRY(parse_digit(c));
  return {};
}

Result<int> sum(char first, char second) {
  TI_TRY_ASSIGN(const int a, parse_digit(first));
  TI_TRY_ASSIGN(const int b, parse_digit(second));
  return a + b;
}

Result<std::unique_ptr<int>> make(int value) { return std::make_unique<int>(value); }

Result<int> read_moved(int value) {
  TI_TRY_ASSIGN(const std::unique_ptr<int> owned, make(value));
  return *owned;
}

TEST(Try, HandsOnTheErrorUnchanged) {
  EXPECT_TRUE(check_digit('1').has_value());
  const auto failed = check_digit('x');
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::protocol);
  EXPECT_EQ(failed.error().side, Side::origin);
  EXPECT_EQ(failed.error().retry, Retry::if_idempotent);
  EXPECT_EQ(failed.error().status, 418);
  EXPECT_EQ(failed.error().native, 7);
  EXPECT_EQ(failed.error().what, "not a digit");
}

TEST(TryAssign, DeclaresTheValueOrReturnsTheError) {
  EXPECT_EQ(sum('1', '2'), 3);
  EXPECT_FALSE(sum('x', '2').has_value());
  EXPECT_FALSE(sum('1', 'x').has_value());
}

TEST(TryAssign, MovesValuesThatCannotBeCopied) { EXPECT_EQ(read_moved(5), 5); }

}  // namespace
}  // namespace titanium
