// SPDX-License-Identifier: MIT
//
// The tables of the report before they are written as Markdown or drawn: which figure stands where,
// and what may be compared with what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/row_key.h"
#include "results/results.h"

namespace titanium::probe {

// All that was measured for one row key.
struct TableRow {
  std::string row_key;
  RowKey key;
  std::vector<Figure> figures;  // At most one per product.

  [[nodiscard]] const Figure* find(std::string_view product) const noexcept;
};

struct Table {
  std::size_t group = 0;              // See workload_group().
  std::vector<std::string> products;  // Columns: Titanium, peers, controls.
  std::vector<TableRow> rows;
};

struct Tables {
  std::vector<Table> tables;
  // What fits in no table: variants of a product, arms without a row key.
  std::vector<Figure> others;
};
[[nodiscard]] Tables build_tables(const Results& results);

// Why figures of one row must not be compared; empty if they may: all were loaded by the same
// generator.
[[nodiscard]] std::string refusal(const TableRow& row);

// The best product of a row, or nullptr: there is nothing to win without a second product, or
// between different generators. Most requests/s; at a tie less memory, then less CPU.
[[nodiscard]] const Figure* winner(const TableRow& row);

// Titanium's figure divided by another's.
struct Ratio {
  double value = 0;
  const Figure* other = nullptr;
};
// nullopt: one of them is missing or 0, or they must not be compared.
[[nodiscard]] std::optional<Ratio> rps_ratio_to_best_peer(const TableRow& row);
[[nodiscard]] std::optional<Ratio> cpu_ratio_to_best_peer(const TableRow& row);
[[nodiscard]] std::optional<Ratio> rps_ratio(const TableRow& row, std::string_view product);
[[nodiscard]] std::optional<Ratio> cpu_ratio(const TableRow& row, std::string_view product);

}  // namespace titanium::probe
