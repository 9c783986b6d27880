// SPDX-License-Identifier: MIT
//
// Row keys ("h1c-h1tls-body64k") and products in words, and the order in which tables have them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace titanium::probe {

// The wires in the order of the tables.
inline constexpr std::array<std::string_view, 5> kWires = {"h1c", "h1tls", "h2c", "h2tls", "h3"};

// A table of the report.
struct WorkloadGroup {
  std::string_view title;
  std::string_view what;     // One sentence on what is measured.
  std::string_view unit;     // What a request is here.
  bool has_workload_column;  // Its rows differ in the workload, too.
};

struct RowKey {
  // Positions in kWires; kWires.size() if the key does not name wires.
  std::size_t client = kWires.size();
  std::size_t origin = kWires.size();
  std::string workload;  // The suffix: "body64k", or empty. Without wires, the whole key.
};
[[nodiscard]] RowKey parse_row_key(std::string_view key);

// "HTTP/1 · TLS"; "–" if the key names none.
[[nodiscard]] std::string_view wire_words(std::size_t wire) noexcept;
// "64 KiB"; a workload that is not known stands for itself.
[[nodiscard]] std::string_view workload_words(std::string_view workload) noexcept;
// "nginx", "HAProxy"; a product that is not known stands for itself.
[[nodiscard]] std::string_view product_words(std::string_view product) noexcept;

// The table that a workload belongs to: a position, as tables are sorted by it.
[[nodiscard]] std::size_t group_of(std::string_view workload) noexcept;
[[nodiscard]] const WorkloadGroup& workload_group(std::size_t group) noexcept;

// Sort keys: of rows in a table, and of columns.
[[nodiscard]] std::size_t row_rank(const RowKey& key) noexcept;
[[nodiscard]] std::size_t product_rank(std::string_view product) noexcept;

}  // namespace titanium::probe
