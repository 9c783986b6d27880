// SPDX-License-Identifier: MIT
#include "base/ascii.h"

#include <gtest/gtest.h>

namespace titanium {
namespace {

TEST(ToLower, ChangesTheCapitalLettersOfAsciiAndNothingElse) {
  constexpr std::string_view kCapital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kSmall = "abcdefghijklmnopqrstuvwxyz";
  for (int i = 0; i < 256; ++i) {
    const auto c = static_cast<char>(i);
    const std::size_t at = kCapital.find(c);
    EXPECT_EQ(to_lower(c), at == kCapital.npos ? c : kSmall[at]) << i;
  }
}

TEST(LowerCase, ChangesEveryLetterOfATextOfAnyBytes) {
  EXPECT_EQ(lower_case(""), "");
  EXPECT_EQ(lower_case("WWW.Example.COM:80"), "www.example.com:80");
  const std::string_view with_nul("A\0B\xc4", 4);
  EXPECT_EQ(lower_case(with_nul), std::string_view("a\0b\xc4", 4));
}

}  // namespace
}  // namespace titanium
