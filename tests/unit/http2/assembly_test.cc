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

Slice slice_of(ChunkPool& pool, std::size_t bytes) {
  return {.chunk = ChunkRef(pool.take()), .begin = 0, .end = static_cast<std::uint32_t>(bytes)};
}

TEST(Packer, PutsSmallSlicesBehindEachOther) {
  ChunkPool pool;
  {
    Packer packer(pool);
    ChunkQueue queue(pool);
    for (int i = 0; i < 100; ++i) queue.push(packer.pack(slice_of(pool, 10)));
    EXPECT_EQ(queue.size(), 1000U);
    EXPECT_EQ(queue.front().size(), 1000U);  // One slice.
    EXPECT_EQ(pool.live(), 1U);
    queue.clear();
    packer.release();
    EXPECT_EQ(pool.live(), 0U);
  }
}

TEST(Packer, LeavesLargeSlicesWhereTheyAre) {
  ChunkPool pool;
  Packer packer(pool);
  const Slice large = slice_of(pool, ChunkQueue::kCopyBytes + 1);
  EXPECT_EQ(packer.pack(large).chunk.get(), large.chunk.get());
  const Slice small = slice_of(pool, ChunkQueue::kCopyBytes);
  EXPECT_NE(packer.pack(small).chunk.get(), small.chunk.get());
}

}  // namespace
}  // namespace titanium::http2
