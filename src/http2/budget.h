// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "http2/options.h"

namespace titanium::http2 {

// A number of events that a peer may cause within kBudgetPeriod; refilled continuously. All there
// is to remember is until when the events so far are paid for.
class Budget {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Budget(std::uint32_t events) noexcept
      : cost_(events == 0 ? kPeriod + Nanoseconds(1) : kPeriod / events) {}

  // One event. False: that is more than the budget allows.
  [[nodiscard]] bool spend(TimePoint now) noexcept {
    const TimePoint paid = std::max(paid_until_, now) + cost_;
    if (paid - now > kPeriod) return false;
    paid_until_ = paid;
    return true;
  }

 private:
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr Nanoseconds kPeriod = kBudgetPeriod;

  Nanoseconds cost_;  // How long it takes to refill one event.
  TimePoint paid_until_{};
};

}  // namespace titanium::http2
