// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace titanium {

// Lets the first event through at once, then one per period, and counts what it held back, so that
// a peer cannot flood the log. One per kind of message and worker.
class RateLimited {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPeriod{10};

  // The number of events suppressed since the last one that passed, or nullopt: stay silent.
  [[nodiscard]] std::optional<std::uint64_t> pass(TimePoint now) noexcept {
    if (passed_once_ && now - last_ < kPeriod) {
      ++suppressed_;
      return std::nullopt;
    }
    passed_once_ = true;
    last_ = now;
    const std::uint64_t count = suppressed_;
    suppressed_ = 0;
    return count;
  }

 private:
  TimePoint last_{};
  std::uint64_t suppressed_ = 0;
  bool passed_once_ = false;
};

}  // namespace titanium
