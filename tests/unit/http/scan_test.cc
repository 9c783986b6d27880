// SPDX-License-Identifier: MIT
#include "http/scan.h"

#include <gtest/gtest.h>

#include "support/every_cut.h"

namespace titanium::http {
namespace {

using Finder = const char* (*)(const char*, const char*);

// Both versions against the definition: every byte value, at every place of a vector and a tail.
void expect_finds_control_bytes(Finder find) {
  for (int c = 0; c < 256; ++c) {
    const bool is_control = (c < 0x20 && c != '\t') || c == 0x7f;
    for (std::size_t at = 0; at < 37; ++at) {
      std::string text(37, at % 2 == 0 ? '\t' : '\xff');
      text[at] = static_cast<char>(c);
      const test::ExactCopy copy(text);
      const char* const end = copy.view().data() + copy.view().size();
      const char* const expected = is_control ? copy.view().data() + at : end;
      ASSERT_EQ(find(copy.view().data(), end), expected) << c << " at " << at;
    }
  }
}

TEST(FindControl, FindsEveryControlByteAndNothingElse) { expect_finds_control_bytes(find_control); }
TEST(FindControlPortable, FindsEveryControlByteAndNothingElse) {
  expect_finds_control_bytes(find_control_portable);
}

TEST(FindControl, FindsTheFirstOfSeveral) {
  const std::string_view text = "aaaaaaaaaaaaaaaaaaaa\raaaa\n";
  EXPECT_EQ(find_control(text.data(), text.data() + text.size()) - text.data(), 20);
  EXPECT_EQ(find_control_portable(text.data(), text.data() + text.size()) - text.data(), 20);
}

TEST(FindControl, TakesNothingForAnEmptyRange) {
  EXPECT_EQ(find_control(nullptr, nullptr), nullptr);
  EXPECT_EQ(find_control_portable(nullptr, nullptr), nullptr);
}

void expect_finds_token_end(Finder find) {
  for (int c = 0; c < 256; ++c) {
    for (std::size_t at = 0; at < 37; ++at) {
      std::string text(37, at % 2 == 0 ? '-' : 'Z');
      text[at] = static_cast<char>(c);
      const test::ExactCopy copy(text);
      const char* const begin = copy.view().data();
      const bool is_token = is_token_byte(static_cast<char>(c));
      ASSERT_EQ(find(begin, begin + 37) - begin, is_token ? 37 : static_cast<std::ptrdiff_t>(at))
          << c << " at " << at;
    }
  }
}

TEST(FindTokenEnd, StopsAtTheFirstByteThatIsNone) { expect_finds_token_end(find_token_end); }
TEST(FindTokenEndPortable, StopsAtTheFirstByteThatIsNone) {
  expect_finds_token_end(find_token_end_portable);
}

TEST(HexValue, IsTheValueOfADigit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int c = 0; c < 256; ++c) {
    const auto lower = static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
    const std::size_t at = c == 0 ? kDigits.npos : kDigits.find(lower);
    EXPECT_EQ(hex_value(static_cast<char>(c)), at == kDigits.npos ? -1 : static_cast<int>(at)) << c;
  }
}

}  // namespace
}  // namespace titanium::http
