// SPDX-License-Identifier: MIT
#include "http2/hpack/text_words.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace titanium::http2 {
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
}  // namespace titanium::http2
