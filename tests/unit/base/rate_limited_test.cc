// SPDX-License-Identifier: MIT
#include "base/rate_limited.h"

#include <gtest/gtest.h>

namespace titanium {
namespace {

using std::chrono::seconds;

TEST(RateLimited, LetsOneEventPassPerPeriodAndCountsTheOthers) {
  RateLimited events;
  const RateLimited::TimePoint start{};
  EXPECT_EQ(events.pass(start), 0u);
  EXPECT_EQ(events.pass(start), std::nullopt);
  EXPECT_EQ(events.pass(start + seconds{5}), std::nullopt);
  EXPECT_EQ(events.pass(start + RateLimited::kPeriod - std::chrono::nanoseconds{1}), std::nullopt);
  EXPECT_EQ(events.pass(start + RateLimited::kPeriod), 3u);
  EXPECT_EQ(events.pass(start + RateLimited::kPeriod), std::nullopt);
  EXPECT_EQ(events.pass(start + seconds{1000}), 1u);
  EXPECT_EQ(events.pass(start + seconds{2000}), 0u);
}

TEST(RateLimited, LetsTheFirstEventPassWhateverTheClockSays) {
  EXPECT_EQ(RateLimited{}.pass(RateLimited::TimePoint{}), 0u);
  EXPECT_EQ(RateLimited{}.pass(RateLimited::TimePoint{} - seconds{100}), 0u);
}

}  // namespace
}  // namespace titanium
