// SPDX-License-Identifier: MIT
#include "base/text_words.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace titanium {
namespace {

constexpr std::string_view kText = "abcdefghijklmnopqrstuvwxyz";

TEST(TextHash, IsTheSameAtCompileTimeAndAtRunTime) {
  constexpr std::uint32_t kHashes[] = {
      hash_text(kText.substr(0, 0)),  hash_text(kText.substr(0, 1)),
      hash_text(kText.substr(0, 3)),  hash_text(kText.substr(0, 4)),
      hash_text(kText.substr(0, 7)),  hash_text(kText.substr(0, 8)),
      hash_text(kText.substr(0, 16)), hash_text(kText)};
  const std::size_t sizes[] = {0, 1, 3, 4, 7, 8, 16, kText.size()};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const std::string text(kText.substr(0, sizes[i]));
    EXPECT_EQ(hash_text(text), kHashes[i]) << "of " << sizes[i] << " bytes";
  }
}

TEST(TextHash, DependsOnEachByteTheSizeAndTheSeed) {
  std::set<std::uint32_t> seen;
  std::size_t texts = 0;
  for (std::size_t size = 0; size <= 40; ++size) {
    std::string text(size, 'x');
    ++texts;
    seen.insert(hash_text(text));
    for (char& c : text) {
      c = 'y';
      ++texts;
      seen.insert(hash_text(text));
      c = 'x';
    }
  }
  EXPECT_EQ(seen.size(), texts);
  EXPECT_NE(hash_text("a", 1), hash_text("a", 2));
}

TEST(SameText, DiffersInAnyByteAndInSize) {
  for (std::size_t size = 0; size <= 40; ++size) {
    std::string text(size, 'x');
    const std::string same(size, 'x');
    EXPECT_TRUE(same_text(text, same));
    EXPECT_FALSE(same_text(text, same + 'x'));
    EXPECT_FALSE(same_text(same + 'x', text));
    for (char& c : text) {
      c = 'y';
      EXPECT_FALSE(same_text(text, same)) << text;
      c = 'x';
    }
  }
}

TEST(SameTextIgnoreCase, KnowsNoOtherPairsThanLettersOfAscii) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int one = 0; one < 256; ++one) {
        std::string text(size, 'x');
        std::string other(size, 'X');
        text[at] = static_cast<char>(one);
        for (const int two : {one, one ^ 0x20, one ^ 0x80, one ^ 1}) {
          other[at] = static_cast<char>(two);
          const bool is_letter = (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z');
          const bool same = one == two || (is_letter && two == (one ^ 0x20));
          ASSERT_EQ(same_text_ignore_case(text, other), same) << one << ", " << two << " at " << at;
        }
      }
    }
  }
}

TEST(SameTextIgnoreCase, DiffersInSize) {
  for (std::size_t size = 0; size <= 20; ++size) {
    const std::string text(size, 'x');
    EXPECT_TRUE(same_text_ignore_case(text, text));
    EXPECT_FALSE(same_text_ignore_case(text, text + 'x'));
    EXPECT_FALSE(same_text_ignore_case(text + 'x', text));
  }
}

TEST(HasUpperCase, FindsEachCapitalWhereverItIs) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        for (const char around : {'a', '\xff'}) {
          std::string text(size, around);
          text[at] = static_cast<char>(byte);
          ASSERT_EQ(has_upper_case(text), byte >= 'A' && byte <= 'Z') << byte << " at " << at;
        }
      }
    }
  }
  EXPECT_FALSE(has_upper_case(""));
}

}  // namespace
}  // namespace titanium
