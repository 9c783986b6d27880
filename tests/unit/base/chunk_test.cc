// SPDX-License-Identifier: MIT
#include "base/chunk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace titanium {
namespace {

constexpr std::size_t kChunk = ChunkPool::kChunkBytes;

std::string contents(const ChunkQueue& queue) {
  std::vector<char> scratch;
  return std::string(queue.peek_contiguous(scratch));
}

std::string letters(std::size_t size, unsigned seed = 0) {
  std::string text(size, 'a');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * 7 + seed) % 26);
  return text;
}

// A slice over a chunk of its own that holds `text`.
Slice slice_of(ChunkPool& pool, std::string_view text) {
  Slice slice{.chunk = ChunkRef(pool.take_large(text.size()))};
  std::ranges::copy(text, slice.chunk->data());
  slice.end = static_cast<std::uint32_t>(text.size());
  return slice;
}

TEST(ChunkPool, ReusesTheChunkThatCameBackLast) {
  ChunkPool pool;
  ChunkRef a(pool.take());
  ChunkRef b(pool.take());
  EXPECT_EQ(pool.live(), 2u);
  Chunk* const last = a.get();
  b.reset();
  a.reset();
  EXPECT_EQ(pool.live(), 0u);
  const ChunkRef again(pool.take());
  EXPECT_EQ(again.get(), last);
  EXPECT_EQ(again->capacity, kChunk);
  EXPECT_FALSE(again.is_shared());
}

TEST(ChunkPool, KeepsABoundedNumberOfChunks) {
  ChunkPool pool;
  std::vector<ChunkRef> chunks;
  for (std::size_t i = 0; i < ChunkPool::kKeptChunks + 10; ++i) chunks.emplace_back(pool.take());
  chunks.clear();  // AddressSanitizer would report what is neither kept nor freed.
  EXPECT_EQ(pool.live(), 0u);
}

TEST(ChunkPool, KeepsBulkChunksApart) {
  ChunkPool pool;
  ChunkRef bulk(pool.take_bulk());
  EXPECT_EQ(bulk->capacity, ChunkPool::kBulkBytes);
  const Chunk* const address = bulk.get();
  bulk.reset();
  EXPECT_EQ(ChunkRef(pool.take())->capacity, kChunk);
  EXPECT_EQ(ChunkRef(pool.take_bulk()).get(), address);
  EXPECT_EQ(pool.allocated(), 2u);
  std::vector<ChunkRef> many;
  for (std::size_t i = 0; i < ChunkPool::kKeptBulkChunks + 10; ++i) {
    many.emplace_back(pool.take_bulk());
  }
  many.clear();
  EXPECT_EQ(pool.live(), 0u);
}

TEST(ChunkPool, DoesNotKeepLargeChunks) {
  ChunkPool pool;
  ChunkRef large(pool.take_large(kChunk + 1));
  EXPECT_GE(large->capacity, kChunk + 1);
  large.reset();
  EXPECT_EQ(pool.live(), 0u);
  EXPECT_EQ(ChunkRef(pool.take())->capacity, kChunk);
  EXPECT_GE(ChunkRef(pool.take_large(1))->capacity, kChunk);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(ChunkPool, ShowsAddressSanitizerViewsThatOutliveTheirChunk) {
  ChunkPool pool;
  ChunkRef chunk(pool.take());
  volatile const std::uint8_t* const stale = chunk->data();
  chunk.reset();
  EXPECT_DEATH(static_cast<void>(*stale), "use-after-poison");
}
#endif

TEST(ChunkRef, SharesAChunkUntilTheLastOneIsGone) {
  ChunkPool pool;
  ChunkRef a(pool.take());
  ChunkRef b = a;
  EXPECT_TRUE(a.is_shared());
  ChunkRef c = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is what is tested.
  EXPECT_TRUE(c.is_shared());
  b.reset();
  EXPECT_FALSE(c.is_shared());
  const ChunkRef& self = c;
  c = self;
  EXPECT_EQ(c->references, 1u);
  c = ChunkRef();
  EXPECT_EQ(pool.live(), 0u);
}

TEST(ChunkQueue, KeepsBytesInOrderWhateverTheirSize) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  std::string expected;
  for (const std::size_t size : {0u, 1u, 100u, 16'000u, 20'000u, 100'000u, 3u}) {
    const std::string text = letters(size, static_cast<unsigned>(size));
    queue.append(text);
    expected += text;
    EXPECT_EQ(queue.size(), expected.size());
  }
  EXPECT_EQ(contents(queue), expected);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.live(), 0u);
}

TEST(ChunkQueue, HoldsNoChunkWhileItIsEmpty) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.append("");
  EXPECT_NE(queue.reserve(10), nullptr);
  queue.commit(0);
  queue.push(Slice{});
  EXPECT_EQ(pool.live(), 0u);
  queue.append("abc");
  queue.consume(3);
  EXPECT_EQ(pool.live(), 0u);
}

TEST(ChunkQueue, WritesIntoReservedRoom) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  std::uint8_t* const first = queue.reserve(kChunk);
  std::fill_n(first, 4, std::uint8_t{'x'});
  queue.commit(4);
  EXPECT_EQ(queue.reserve(kChunk - 4), first + 4) << "there is room in the tail";
  queue.commit(0);
  EXPECT_EQ(contents(queue), "xxxx");
  EXPECT_NE(queue.reserve(kChunk - 3), first + 4) << "there is no room for one more";
  queue.commit(0);
  EXPECT_EQ(pool.live(), 1u);
}

TEST(ChunkQueue, PutsSmallPiecesBetweenSharedOnesIntoOneChunk) {
  ChunkPool pool;
  ChunkQueue body(pool);
  body.append(std::string(4 * kChunk, 'b'));
  ChunkQueue queue(pool);
  for (int i = 0; i < 4; ++i) {
    queue.append("size\r\n");
    queue.append(body, kChunk);
  }
  EXPECT_EQ(queue.size(), 4 * (kChunk + 6));
  EXPECT_EQ(pool.live(), 5u);
}

TEST(ChunkQueue, NeverWritesIntoATailThatSomebodyElseHolds) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.append("abc");
  ChunkQueue other(pool);
  other.append_shared(queue);
  queue.append("def");  // Must not go behind "abc" in the shared chunk:
  other.append("XYZ");  // this would overwrite it.
  EXPECT_EQ(contents(queue), "abcdef");
  EXPECT_EQ(contents(other), "abcXYZ");
  std::uint8_t* const reserved = queue.reserve(3);
  EXPECT_NE(reserved, nullptr);
  queue.commit(0);
}

TEST(ChunkQueue, WritesBehindWhatItAloneHoldsAgain) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.append("abc");
  {
    ChunkQueue other(pool);
    other.append_shared(queue);
  }
  queue.append("def");
  EXPECT_EQ(contents(queue), "abcdef");
  EXPECT_EQ(pool.live(), 1u);
}

// By the part of its chunk that a slice is.
TEST(ChunkQueue, CopiesSmallSlicesAndSharesLargeOnes) {
  ChunkPool pool;
  struct Case {
    Chunk* chunk;
    std::uint32_t largest_copied;
  };
  const Case cases[] = {{pool.take(), 1024}, {pool.take_bulk(), 4096}};
  for (const Case& c : cases) {
    const ChunkRef chunk(c.chunk);
    const std::string text = letters(chunk->capacity);
    std::ranges::copy(text, chunk->data());
    ChunkQueue queue(pool);
    queue.append("start ");
    queue.append_slice({.chunk = chunk, .begin = 0, .end = c.largest_copied});
    EXPECT_EQ(chunk->references, 1U);
    queue.append_slice({.chunk = chunk, .begin = 0, .end = c.largest_copied + 1});
    EXPECT_EQ(chunk->references, 2U);
    EXPECT_EQ(contents(queue),
              "start " + text.substr(0, c.largest_copied) + text.substr(0, c.largest_copied + 1));
  }
}

TEST(ChunkQueue, AppendsBehindALargeChunkWithMoreRoomThanAPooledOneHas) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.push({.chunk = ChunkRef(pool.take_large(100'000)), .begin = 0, .end = 0});
  Slice slice = slice_of(pool, letters(100'000));
  slice.end = 10;
  queue.push(std::move(slice));
  queue.append(letters(50'000, 1));
  EXPECT_EQ(contents(queue), letters(10) + letters(50'000, 1));
}

TEST(ChunkQueue, JoinsNeighboursOfOneChunk) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  Slice whole = slice_of(pool, "abcdef");
  queue.push({.chunk = whole.chunk, .begin = 0, .end = 2});
  queue.push({.chunk = whole.chunk, .begin = 2, .end = 4});
  queue.push({.chunk = whole.chunk, .begin = 5, .end = 6});
  iovec parts[4];
  EXPECT_EQ(queue.gather(parts).size(), 2u);
  EXPECT_EQ(contents(queue), "abcdf");
}

TEST(ChunkQueue, GathersItsPieces) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  for (int i = 0; i < 6; ++i)
    queue.push(slice_of(pool, std::string(2, static_cast<char>('a' + i))));
  queue.consume(3);
  iovec parts[3];
  const auto filled = queue.gather(parts);
  ASSERT_EQ(filled.size(), 3u);
  std::string text;
  for (const iovec& part : filled) text.append(static_cast<char*>(part.iov_base), part.iov_len);
  EXPECT_EQ(text, "bccdd");
  EXPECT_EQ(as_text(queue.front()), "b");
  EXPECT_TRUE(queue.gather({}).empty());
  EXPECT_TRUE(ChunkQueue(pool).front().empty());
}

TEST(ChunkQueue, TakesSlicesOffItsFront) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.push(slice_of(pool, "abc"));
  queue.push(slice_of(pool, "de"));
  const Slice first = queue.take_front();
  EXPECT_EQ(as_text(first.bytes()), "abc");
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(contents(queue), "de");
}

TEST(ChunkQueue, GrowsAndWrapsAround) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  std::string expected;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 3; ++i) {
      const std::string text = letters(static_cast<std::size_t>(round + i + 1));
      queue.push(slice_of(pool, text));
      expected += text;
    }
    queue.consume(static_cast<std::size_t>(round));
    expected.erase(0, static_cast<std::size_t>(round));
    ASSERT_EQ(contents(queue), expected);
  }
}

TEST(ChunkQueue, MovesAllOrAPartToAnotherQueue) {
  ChunkPool pool;
  for (std::size_t cut = 0; cut <= 9; ++cut) {
    ChunkQueue from(pool);
    for (const std::string_view text : {"abc", "def", "ghi"}) from.push(slice_of(pool, text));
    ChunkQueue to(pool);
    to.append("> ");
    to.append(from, cut);
    EXPECT_EQ(contents(to), "> " + std::string("abcdefghi").substr(0, cut));
    EXPECT_EQ(contents(from), std::string("abcdefghi").substr(cut));
    EXPECT_EQ(to.size() + from.size(), 11u);
    to.append(from);
    EXPECT_EQ(contents(to), "> abcdefghi");
    EXPECT_TRUE(from.empty());
  }
}

TEST(ChunkQueue, IsEmptyOnceMovedFromAndCanBeUsedAgain) {
  ChunkPool pool;
  for (const int slices : {0, 2, 9}) {
    ChunkQueue from(pool);
    std::string expected;
    for (int i = 0; i < slices; ++i) {
      from.push(slice_of(pool, letters(5)));
      expected += letters(5);
    }
    ChunkQueue constructed(std::move(from));
    EXPECT_EQ(contents(constructed), expected);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move)
    from.append("again");
    EXPECT_EQ(contents(from), "again");

    ChunkQueue assigned(pool);
    for (int i = 0; i < 7; ++i) assigned.push(slice_of(pool, "old"));
    assigned = std::move(constructed);
    EXPECT_EQ(contents(assigned), expected);
    assigned = std::move(from);
    EXPECT_EQ(contents(assigned), "again");
  }
  EXPECT_EQ(pool.live(), 0u);
}

// The queue against a plain string, through a long row of random operations.
TEST(ChunkQueue, BehavesLikeAString) {
  std::mt19937 random(20'260'101);
  ChunkPool pool;
  ChunkQueue queue(pool), other(pool);
  std::string expected, other_expected;
  for (int step = 0; step < 5000; ++step) {
    const std::size_t longest = random() % 8 == 0 ? 40'000 : 2000;
    const std::string text = letters(random() % longest, static_cast<unsigned>(step));
    switch (random() % 8) {
      case 0:
        queue.append(text);
        expected += text;
        break;
      case 1:
        queue.append_slice(slice_of(pool, text));
        expected += text;
        break;
      case 2: {
        const std::size_t size = std::min<std::size_t>(text.size(), kChunk);
        std::ranges::copy(text.substr(0, size), queue.reserve(size));
        queue.commit(size);
        expected += text.substr(0, size);
        break;
      }
      case 3: {
        const std::size_t size = std::min(expected.size(), text.size());
        other.append(queue, size);
        other_expected += expected.substr(0, size);
        expected.erase(0, size);
        break;
      }
      case 4:
        queue.append_shared(other);
        expected += other_expected;
        break;
      case 5:
        other.clear();
        other_expected.clear();
        break;
      case 6: {
        if (other.empty()) break;
        const std::size_t size = other.front().size();
        queue.push(other.take_front());
        expected += other_expected.substr(0, size);
        other_expected.erase(0, size);
        break;
      }
      default: {
        const std::size_t size = std::min<std::size_t>(expected.size(), random() % 60'000);
        queue.consume(size);
        expected.erase(0, size);
        break;
      }
    }
    if (expected.size() > 400'000) {
      queue.clear();
      expected.clear();
    }
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(other.size(), other_expected.size());
    if (step % 16 == 0) {
      ASSERT_EQ(contents(queue), expected) << step;
    }
  }
  queue.clear();
  other.clear();
  EXPECT_EQ(pool.live(), 0u);
}

}  // namespace
}  // namespace titanium
