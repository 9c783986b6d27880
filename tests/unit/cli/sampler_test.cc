// SPDX-License-Identifier: MIT
#include "cli/log/sampler.h"

#include <gtest/gtest.h>

namespace titanium::cli {
namespace {

[[nodiscard]] int taken(double rate, int calls) {
  Sampler sampler(rate);
  int count = 0;
  for (int i = 0; i < calls; ++i) count += sampler.take() ? 1 : 0;
  return count;
}

TEST(Sampler, TakesTheShareThatWasAskedFor) {
  EXPECT_EQ(taken(1.0, 1000), 1000);
  EXPECT_EQ(taken(0.0, 1000), 0);
  EXPECT_EQ(taken(0.5, 1000), 500);
  EXPECT_EQ(taken(0.25, 1000), 250);
  EXPECT_NEAR(taken(0.1, 1000), 100, 1);
  EXPECT_NEAR(taken(0.999, 1000), 999, 1);
}

TEST(Sampler, SpreadsEvenly) {
  Sampler sampler(0.25);
  for (int group = 0; group < 10; ++group) {
    int count = 0;
    for (int i = 0; i < 4; ++i) count += sampler.take() ? 1 : 0;
    EXPECT_EQ(count, 1);
  }
}

TEST(Sampler, ClampsNonsense) {
  EXPECT_EQ(taken(7.0, 10), 10);
  EXPECT_EQ(taken(-1.0, 10), 0);
}

}  // namespace
}  // namespace titanium::cli
