// SPDX-License-Identifier: MIT
//
// The 25 pairs of client and origin wires, and what arms on them are called.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "workload.h"

namespace titanium::probe {

struct PairRow {
  Wire client;
  Wire origin;
  std::string_view titanium_mode;  // What --mode calls ours.
  std::string_view titanium_name;  // CSV arm, after "twp-".
  std::string_view peer_name;      // CSV arm, after the product's prefix.

  [[nodiscard]] std::string key() const;  // "h1c-h1tls"
};

[[nodiscard]] std::span<const PairRow> pairs();
[[nodiscard]] const PairRow& pair_row(std::string_view key);  // Must exist.

}  // namespace titanium::probe
