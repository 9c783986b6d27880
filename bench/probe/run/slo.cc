// SPDX-License-Identifier: MIT
#include "run/slo.h"

namespace titanium::probe {

double error_rate_percent(std::uint64_t ok, std::uint64_t errors) noexcept {
  const std::uint64_t all = ok + errors;
  if (all == 0) return 100;
  return 100 * static_cast<double>(errors) / static_cast<double>(all);
}

bool meets_slo(const Row& row, std::chrono::milliseconds p99_limit) noexcept {
  return error_rate_percent(row.ok, row.errors) < kMaxErrorPercent &&
         row.p99_ms <= static_cast<double>(p99_limit.count());
}

void StopRule::after_step(bool met) noexcept {
  if (!enabled_) return;
  if (broken_) {
    over_ = true;
  } else if (met) {
    passed_ = true;
  } else if (passed_) {
    broken_ = true;
  }
}

}  // namespace titanium::probe
