// SPDX-License-Identifier: MIT
#include "cli/log/line_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace titanium::cli {
namespace {

TEST(LineRing, GivesLinesInTheirOrder) {
  LineRing ring(64);
  EXPECT_TRUE(ring.push("one\n"));
  EXPECT_TRUE(ring.push("two\n"));
  std::string batch;
  ASSERT_TRUE(ring.take(batch));
  EXPECT_EQ(batch, "one\ntwo\n");
}

TEST(LineRing, DropsAndCountsWhatFindsNoRoom) {
  LineRing ring(10);
  EXPECT_TRUE(ring.push("12345678\n"));
  EXPECT_FALSE(ring.push("xy\n"));
  EXPECT_FALSE(ring.push("longer than the whole ring\n"));
  EXPECT_EQ(ring.dropped(), 2u);
  std::string batch;
  ASSERT_TRUE(ring.take(batch));
  EXPECT_EQ(batch, "12345678\n");
  EXPECT_TRUE(ring.push("xy\n"));  // There is room again.
}

TEST(LineRing, GivesWhatIsLeftAfterCloseAndThenEnds) {
  LineRing ring(64);
  ring.push("left\n");
  ring.close();
  EXPECT_FALSE(ring.push("late\n"));
  std::string batch;
  ASSERT_TRUE(ring.take(batch));
  EXPECT_EQ(batch, "left\n");
  EXPECT_FALSE(ring.take(batch));
  EXPECT_EQ(ring.dropped(), 1u);
}

TEST(LineRing, LosesNothingBetweenSeveralWritersAndOneReader) {
  constexpr int kWriters = 4;
  constexpr int kLines = 5'000;
  LineRing ring(std::size_t{1} << 20);
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&ring, w] {
      for (int i = 0; i < kLines;) {
        // What is dropped is tried again, so that the reader has to see every line.
        if (ring.push(std::to_string(w) + " " + std::to_string(i) + "\n")) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::thread closer([&] {
    for (std::thread& writer : writers) writer.join();
    ring.close();
  });
  std::string all;
  std::string batch;
  while (ring.take(batch)) all += batch;
  closer.join();
  EXPECT_EQ(std::ranges::count(all, '\n'), kWriters * kLines);
}

}  // namespace
}  // namespace titanium::cli
