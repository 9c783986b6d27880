// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace titanium::cli {

// Says yes for a share of the calls, evenly spread: 0.25 is every fourth. One atomic addition, no
// random numbers, so that the share is exact. From any thread.
class Sampler {
 public:
  explicit Sampler(double rate) noexcept
      : step_(static_cast<std::uint64_t>(std::clamp(rate, 0.0, 1.0) * double{kOne})) {}

  [[nodiscard]] bool take() noexcept {
    const std::uint64_t before = phase_.fetch_add(step_, std::memory_order_relaxed);
    return (before + step_) / kOne != before / kOne;
  }

 private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
  const std::uint64_t step_;
  std::atomic<std::uint64_t> phase_{0};
};

}  // namespace titanium::cli
