// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "http2/options.h"

namespace titanium::http2 {

// A number of events that a peer may cause within kBudgetPeriod; refilled continuously. All there
// is to remember is until when the events so far are paid for. Events that the traffic gives reason
// for are free.
class Budget {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `most_explained`: how many free events a peer may save up.
  explicit Budget(std::uint32_t events, std::uint32_t most_explained = 0) noexcept
      : cost_(events == 0 ? kPeriod + Nanoseconds(1) : kPeriod / events),
        most_explained_(most_explained) {}

  // There is reason for so many more.
  void explain(std::uint32_t events) noexcept {
    explained_ = std::min(explained_ + events, most_explained_);
  }

  // One event. False: that is more than the budget allows.
  [[nodiscard]] bool spend(TimePoint now) noexcept {
    if (explained_ > 0) {
      --explained_;
      return true;
    }
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
  std::uint32_t explained_ = 0;
  std::uint32_t most_explained_;
};

}  // namespace titanium::http2
