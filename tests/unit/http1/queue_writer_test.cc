// SPDX-License-Identifier: MIT
#include "http1/queue_writer.h"

#include <gtest/gtest.h>

#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

TEST(QueueWriter, WritesTextsOfAnySizeInTheirOrder) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  queue.append("before ");
  std::string expected = "before ";
  {
    QueueWriter out(queue);
    for (const std::size_t size : {1u, 1000u, 0u, 30u, 1024u, 1025u, 5000u, 16'000u, 70'000u, 3u}) {
      const std::string text(size, static_cast<char>('a' + size % 26));
      out.put(text);
      expected += text;
    }
  }
  EXPECT_EQ(test::contents(queue), expected);
  EXPECT_EQ(queue.size(), expected.size());
}

TEST(QueueWriter, WritesNumbers) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  {
    QueueWriter out(queue);
    out.put_number(0);
    out.put(" ");
    out.put_number(~std::uint64_t{0});
    out.put(" ");
    out.put_number(0xbeef, 16);
  }
  EXPECT_EQ(test::contents(queue), "0 18446744073709551615 beef");
}

TEST(QueueWriter, LeavesTheQueueAsItWasIfNothingIsWritten) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  {
    const QueueWriter out(queue);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.live(), 0u);
}

}  // namespace
}  // namespace titanium::http1
