// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "load/histogram.h"

namespace titanium::probe {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_EQ(histogram.max(), 0);
}

TEST(Histogram, KeepsSmallValuesExactly) {
  for (std::uint64_t value = 0; value < 256; ++value) {
    Histogram histogram;
    histogram.record(value);
    histogram.record(1'000'000);
    EXPECT_EQ(histogram.percentile(50), value);
  }
}

TEST(Histogram, IsOffByLessThanOneIn128) {
  // Around every power of two and between them.
  for (unsigned bits = 8; bits < 36; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power - 1, power, power + 1, power + power / 3}) {
      Histogram histogram;
      histogram.record(value);
      histogram.record(std::uint64_t{1} << 40);  // Or max() would give the value away.
      const std::uint64_t seen = histogram.percentile(50);
      EXPECT_GE(seen, value);
      EXPECT_LE(seen - value, value / 128) << value;
    }
  }
}

TEST(Histogram, HoldsValuesBeyondItsRange) {
  Histogram histogram;
  histogram.record(UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  EXPECT_EQ(histogram.percentile(99), UINT64_MAX);
}

TEST(Histogram, NeverReportsMoreThanTheLargestValue) {
  Histogram histogram;
  histogram.record(1'000'001);
  EXPECT_EQ(histogram.percentile(50), 1'000'001);
  EXPECT_EQ(histogram.percentile(100), 1'000'001);
}

TEST(Histogram, PercentilesAreThoseOfTheSortedValues) {
  Histogram histogram;
  std::vector<std::uint64_t> values;
  std::minstd_rand random(7);
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(random() % 500'000);
    histogram.record(values.back());
  }
  std::ranges::sort(values);
  for (const double percent : {0.0, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const auto rank = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(percent / 100 * 10'000 - 1e-6)));
    const std::uint64_t exact = values[rank - 1];
    EXPECT_GE(histogram.percentile(percent), exact) << percent;
    EXPECT_LE(histogram.percentile(percent), exact + exact / 128) << percent;
  }
}

TEST(Histogram, ARankThatIsWholeIsNotRoundedUp) {
  Histogram histogram;
  for (int i = 0; i < 999; ++i) histogram.record(1);
  histogram.record(100);
  EXPECT_EQ(histogram.percentile(99.9), 1);
  EXPECT_EQ(histogram.percentile(99.91), 100);
}

TEST(Histogram, MergingIsRecordingBoth) {
  Histogram first;
  Histogram second;
  Histogram both;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? first : second).record(i * i);
    both.record(i * i);
  }
  first.merge(second);
  EXPECT_EQ(first.count(), both.count());
  EXPECT_EQ(first.max(), both.max());
  for (const double percent : {10.0, 50.0, 99.0}) {
    EXPECT_EQ(first.percentile(percent), both.percentile(percent));
  }
}

TEST(Histogram, ForgetsEverythingWhenCleared) {
  Histogram histogram;
  histogram.record(5);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.max(), 0);
  histogram.record(3);
  EXPECT_EQ(histogram.percentile(100), 3);
}

}  // namespace
}  // namespace titanium::probe
