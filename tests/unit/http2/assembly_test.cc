// SPDX-License-Identifier: MIT
#include "http2/assembly.h"

#include <gtest/gtest.h>

#include <string>

namespace titanium::http2 {
namespace {

TEST(Assembly, PutsPiecesTogetherAndHoldsNothingInBetween) {
  ChunkPool pool;
  Assembly assembly(pool);
  EXPECT_TRUE(assembly.empty());
  EXPECT_EQ(pool.live(), 0U);
  std::string expected;
  for (std::size_t i = 0; i < 3000; ++i) {  // Far beyond a chunk of the pool.
    const std::string piece(i % 40, static_cast<char>('a' + i % 26));
    assembly.append(as_bytes(piece));
    expected += piece;
  }
  EXPECT_EQ(as_text(assembly.bytes()), expected);
  EXPECT_EQ(pool.live(), 1U);
  assembly.clear();
  EXPECT_TRUE(assembly.bytes().empty());
  EXPECT_EQ(pool.live(), 0U);
}

}  // namespace
}  // namespace titanium::http2
