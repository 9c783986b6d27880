// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state. Counts what a choice allocates.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "cluster/balancer.h"

namespace {
// Written by the replaced operators below, which cannot be given an object to count in.
std::atomic<std::size_t> allocations{0};

void* count_and_allocate(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

// Replaced for this whole test program; they behave as the standard ones do.
void* operator new(std::size_t size) { return count_and_allocate(size); }
void* operator new[](std::size_t size) { return count_and_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace titanium::cluster {
namespace {

TEST(Balancer, DoesNotAllocateAfterConstruction) {
  for (const auto algorithm :
       {Algorithm::round_robin, Algorithm::random, Algorithm::least_requests}) {
    Balancer balancer(algorithm, std::vector<DestinationOptions>(100), 1);
    const TimePoint now{std::chrono::seconds(1)};
    const std::size_t before = allocations.load();
    std::size_t picked = 0;
    for (std::size_t i = 0; i < 1'000; ++i) {
      const std::size_t exclude[] = {i % 100};
      const auto index = balancer.pick(now, exclude);
      if (!index) continue;
      ++picked;
      balancer.started(*index);
      balancer.finished(*index, i % 3 == 0, now);
    }
    EXPECT_EQ(allocations.load() - before, 0U);
    EXPECT_EQ(picked, 1'000U);
    EXPECT_GT(before, 0U) << "the counter counts";
  }
}

}  // namespace
}  // namespace titanium::cluster
