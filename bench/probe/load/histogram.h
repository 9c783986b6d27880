// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace titanium::probe {

// Counts values with a fixed relative precision (at most 1/128, as HdrHistogram does): buckets of
// powers of two, each cut into equal parts. Recording costs a few instructions and no allocation.
class Histogram {
 public:
  Histogram();

  void record(std::uint64_t microseconds) noexcept;
  void merge(const Histogram& other) noexcept;
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The value that `percent` of all are at or below; 0 when empty. Never above max().
  [[nodiscard]] std::uint64_t percentile(double percent) const noexcept;
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace titanium::probe
