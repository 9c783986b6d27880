// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "origin/content.h"

namespace titanium::probe {
namespace {

// What a body of the pattern looks like.
std::string body(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += pattern().substr(0, bytes - text.size());
  return text;
}

TEST(Pattern, PushesAnyPartOfABody) {
  ChunkPool pool;
  const Slice slice = make_pattern_slice(pool);
  const std::string whole = body(300'000);
  for (const auto& [offset, bytes] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {0, 10}, {65535, 2}, {65536, 65536}, {1000, 200'000}}) {
    ChunkQueue queue(pool);
    push_pattern(queue, slice, offset, bytes);
    std::vector<char> scratch;
    EXPECT_EQ(queue.peek_contiguous(scratch), whole.substr(offset, bytes));
  }
  EXPECT_EQ(pool.live(), 1);  // Nothing was copied.
}

TEST(BodyCheck, TakesTheBodyInPiecesOfAnySize) {
  const std::string whole = body(200'000);
  for (const std::size_t piece : {1UL, 31UL, 64UL, 65UL, 1000UL, 65'536UL, 131'072UL, 200'000UL}) {
    BodyCheck check;
    check.expect_pattern(whole.size());
    for (std::size_t at = 0; at < whole.size(); at += piece) {
      ASSERT_FALSE(check.is_complete());
      ASSERT_TRUE(check.take(std::string_view(whole).substr(at, piece))) << at;
    }
    EXPECT_TRUE(check.is_complete());
  }
}

TEST(BodyCheck, NoticesAByteTooMany) {
  BodyCheck check;
  check.expect_tiny();
  EXPECT_TRUE(check.take(kTinyJson));
  EXPECT_FALSE(check.take("x"));
}

TEST(BodyCheck, NoticesAMissingByte) {
  BodyCheck check;
  check.expect_tiny();
  EXPECT_TRUE(check.take(kTinyJson.substr(0, kTinyJson.size() - 1)));
  EXPECT_FALSE(check.is_complete());
}

TEST(BodyCheck, NoticesPiecesThatAreShiftedSwappedOrChanged) {
  const std::string whole = body(100'000);
  std::string shifted = whole.substr(1, 50'000);
  std::string last = whole.substr(0, 50'000);
  last.back() ^= 1;
  std::string first = whole.substr(0, 50'000);
  first.front() ^= 1;
  std::string middle = whole.substr(0, 60);  // Short pieces are compared in full.
  middle[30] ^= 1;
  for (const std::string& piece : {shifted, last, first, middle}) {
    BodyCheck check;
    check.expect_pattern(whole.size());
    EXPECT_FALSE(check.take(piece));
  }
}

TEST(BodyCheck, StartsAnewForTheNextAnswer) {
  BodyCheck check;
  check.expect_tiny();
  EXPECT_TRUE(check.take(kTinyJson));
  check.restart();
  EXPECT_FALSE(check.is_complete());
  EXPECT_TRUE(check.take(kTinyJson));
  EXPECT_TRUE(check.is_complete());
}

}  // namespace
}  // namespace titanium::probe
