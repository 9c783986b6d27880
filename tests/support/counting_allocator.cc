// SPDX-License-Identifier: MIT
#include "support/counting_allocator.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Written by the replaced operators below, which cannot be given an object to count in.
std::atomic<std::size_t> count{0};

void* count_and_allocate(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// They behave as the standard ones do.
void* operator new(std::size_t size) { return count_and_allocate(size); }
void* operator new[](std::size_t size) { return count_and_allocate(size); }
// std::stable_sort asks this way; the library's own would not fit the operators below.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return count_and_allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return count_and_allocate(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace titanium::test {

std::size_t allocations() noexcept { return count.load(std::memory_order_relaxed); }

}  // namespace titanium::test
