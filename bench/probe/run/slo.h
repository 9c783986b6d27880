// SPDX-License-Identifier: MIT
//
// When a step of a ramp meets its objectives, and when a ramp has gone far enough.
#pragma once

#include <chrono>
#include <cstdint>

#include "results/row.h"

namespace titanium::probe {

// Errors have to stay below this share of all requests.
inline constexpr double kMaxErrorPercent = 0.1;

// In percent of all; 100 if nothing was answered at all.
[[nodiscard]] double error_rate_percent(std::uint64_t ok, std::uint64_t errors) noexcept;

// Needs ok, errors and p99_ms of the row.
[[nodiscard]] bool meets_slo(const Row& row, std::chrono::milliseconds p99_limit) noexcept;

// The steps of one arm in one repeat. After the first step that fails following one that passed,
// one more step is measured, to show the shape beyond the breaking point; then the arm ends.
class StopRule {
 public:
  explicit StopRule(bool enabled) noexcept : enabled_(enabled) {}
  void after_step(bool met) noexcept;
  [[nodiscard]] bool is_over() const noexcept { return over_; }

 private:
  bool enabled_;
  bool passed_ = false;
  bool broken_ = false;
  bool over_ = false;
};

}  // namespace titanium::probe
