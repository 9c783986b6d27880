// SPDX-License-Identifier: MIT
#include "proxy/input_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace titanium::proxy {
namespace {

class InputBufferTest : public ::testing::Test {
 protected:
  void receive(std::string_view text) {
    while (!text.empty()) {
      const auto room = input_.room();
      ASSERT_FALSE(room.empty());
      const std::size_t part = std::min(text.size(), room.size());
      std::memcpy(room.data(), text.data(), part);
      input_.filled(part);
      text.remove_prefix(part);
    }
  }

  ChunkPool pool_;
  InputBuffer input_{pool_};
};

TEST_F(InputBufferTest, HoldsNoChunkWhileEmpty) {
  receive("abc");
  EXPECT_EQ(pool_.live(), 1U);
  input_.consume(3);
  input_.release_if_empty();
  EXPECT_EQ(pool_.live(), 0U);
  EXPECT_EQ(input_.unread(), "");
}

TEST_F(InputBufferTest, KeepsUnreadBytesContiguousBeyondAChunk) {
  const std::string large(100'000, 'x');
  receive("head:" + large);
  EXPECT_EQ(input_.unread(), "head:" + large);
}

TEST_F(InputBufferTest, LeavesConsumedBytesInPlaceWhileSomebodyHoldsTheirChunk) {
  receive("first");
  const ChunkRef held = input_.chunk();
  const std::string_view view = input_.unread();
  input_.consume(5);
  receive(std::string(3 * ChunkPool::kChunkBytes, 'y'));
  EXPECT_EQ(view, "first");
}

TEST_F(InputBufferTest, TakesLargerChunksWhileThePeerFillsThem) {
  EXPECT_EQ(input_.room().size(), ChunkPool::kChunkBytes);
  receive(std::string(ChunkPool::kChunkBytes, 'x'));
  const Slice taken = input_.take();
  EXPECT_EQ(input_.room().size(), ChunkPool::kBulkBytes);
  receive("the rest");
  const Slice rest = input_.take();
  EXPECT_EQ(rest.bytes().size(), 8U);
  input_.release_if_empty();
  // A lot came in this turn, so the next one begins with a large one; little, and it ends there.
  EXPECT_EQ(input_.room().size(), ChunkPool::kBulkBytes);
  receive("little");
  input_.consume(6);
  input_.release_if_empty();
  EXPECT_EQ(input_.room().size(), ChunkPool::kChunkBytes);
}

TEST_F(InputBufferTest, ALargeChunkIsLeftBeforeReadsBecomeSmall) {
  receive(std::string(ChunkPool::kChunkBytes, 'x'));
  (void)input_.take();
  receive(std::string(ChunkPool::kBulkBytes - 10'000, 'y'));
  const Slice held = input_.take();
  EXPECT_EQ(input_.room().size(), ChunkPool::kBulkBytes);
}

TEST_F(InputBufferTest, StartsAtTheFrontAgainOnceAllIsConsumed) {
  receive("first");
  const void* front = input_.unread().data();
  input_.consume(5);
  receive("second");
  EXPECT_EQ(input_.unread().data(), front);
}

TEST_F(InputBufferTest, MovesBytesWithoutCopying) {
  receive(std::string(5000, 'z'));
  const void* source = input_.unread().data();
  ChunkQueue out(pool_);
  input_.move_to(out, 4000);
  EXPECT_EQ(out.front().data(), source);
  EXPECT_EQ(input_.size(), 1000U);
}

// The queue that a few bytes end up in takes them into its own chunk, next to what is there.
TEST_F(InputBufferTest, FewBytesJoinWhatTheyAreQueuedBehind) {
  receive("body");
  ChunkQueue moved(pool_);
  input_.move_to(moved, 4);
  ChunkQueue out(pool_);
  out.append("head:");
  out.append(moved);
  EXPECT_EQ(as_text(out.front()), "head:body");
}

}  // namespace
}  // namespace titanium::proxy
