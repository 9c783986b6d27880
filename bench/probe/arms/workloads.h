// SPDX-License-Identifier: MIT
//
// The kinds of load, by the suffix that they have in names of arms and in row keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "workload.h"

namespace titanium::probe {

// Groups the limits for p99, the strictest first.
enum class SloClass : std::uint8_t { tiny, handshake, body, lossy, architecture };

struct WorkloadRow {
  std::string_view suffix;  // Empty, or with its hyphen.
  Workload workload;
  SloClass slo = SloClass::tiny;
  // The network between client and proxy (shim.h); none if both are 0.
  std::uint32_t delay_ms = 0;
  double loss_percent = 0;
  std::string_view meaning;

  [[nodiscard]] bool has_shim() const noexcept { return delay_ms > 0 || loss_percent > 0; }
};

[[nodiscard]] std::span<const WorkloadRow> workloads();
[[nodiscard]] const WorkloadRow& workload_row(std::string_view suffix);  // Must exist.

// The highest p99 with which a step of this load meets its objective.
[[nodiscard]] std::chrono::milliseconds p99_limit(SloClass slo, Wire client, Wire origin);

}  // namespace titanium::probe
