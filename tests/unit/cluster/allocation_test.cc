// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state. Counts what a choice allocates.
#include <gtest/gtest.h>

#include "cluster/balancer.h"
#include "support/counting_allocator.h"

namespace titanium::cluster {
namespace {

TEST(Balancer, DoesNotAllocateAfterConstruction) {
  for (const auto algorithm :
       {Algorithm::round_robin, Algorithm::random, Algorithm::least_requests}) {
    Balancer balancer(algorithm, std::vector<DestinationOptions>(100), 1);
    const TimePoint now{std::chrono::seconds(1)};
    const std::size_t before = test::allocations();
    std::size_t picked = 0;
    for (std::size_t i = 0; i < 1'000; ++i) {
      const std::size_t exclude[] = {i % 100};
      const auto index = balancer.pick(now, exclude);
      if (!index) continue;
      ++picked;
      balancer.started(*index);
      balancer.finished(*index, i % 3 == 0 ? Outcome::failed : Outcome::answered, now);
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_EQ(picked, 1'000U);
    EXPECT_GT(before, 0U) << "the counter counts";
  }
}

}  // namespace
}  // namespace titanium::cluster
