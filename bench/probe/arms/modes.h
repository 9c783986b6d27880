// SPDX-License-Identifier: MIT
//
// What --mode, --arm-contains and --arm-shard choose from the table of arms.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arms/arm.h"

namespace titanium::probe {

struct ModeRow {
  std::string_view name;
  std::string_view rows;      // Row keys, separated by spaces, in the order of measuring.
  std::string_view products;  // Names, separated by spaces; empty: all.
  std::string_view meaning;
};
[[nodiscard]] std::span<const ModeRow> modes();

// The arms of a mode: a name of modes(), or one arm by its name or mode. An error says what there
// is instead.
[[nodiscard]] std::expected<std::vector<Arm>, std::string> arms_of_mode(std::string_view mode);

// Keeps arms whose name has one of the comma-separated parts in it; "x$" means: ends with x.
[[nodiscard]] std::vector<Arm> keep_containing(std::vector<Arm> arms, std::string_view text);

// "all", "i/n" (every n-th row, beginning with the i-th), or a row key. Rows are never split, as
// their arms are compared with each other.
[[nodiscard]] std::expected<std::vector<Arm>, std::string> keep_shard(std::vector<Arm> arms,
                                                                      std::string_view shard);

// The rows of these arms, each once, in their order.
[[nodiscard]] std::vector<std::string> row_keys(std::span<const Arm> arms);

}  // namespace titanium::probe
