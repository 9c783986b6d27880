// SPDX-License-Identifier: MIT
//
// Result files as one set of rows, and the figures that tables and targets are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/environment.h"
#include "results/row.h"

namespace titanium::probe {

struct Results {
  // Repeats of different files have different numbers.
  std::vector<Row> rows;
  std::vector<Environment> environments;  // Of the files that have one.
  std::vector<std::string> files;
  std::vector<std::string> warnings;
};

// Adds the rows of a file. A file of the original gets its products from the names of its arms.
void add_rows(Results& results, std::vector<Row> rows);

// Reads the files and what lies beside them. The error names the file.
[[nodiscard]] std::expected<Results, std::string> load_results(
    const std::vector<std::string>& files);

// The middle value; the mean of the two middle ones if their number is even. 0 for none.
[[nodiscard]] double median(std::vector<double> values);

// What an arm made of one row of a table, over all repeats: medians.
struct Figure {
  std::string arm;
  std::string row_key;
  std::string product;
  std::string generator;  // Several, if rows differ: "a + b".
  // Requests/s of the highest step that met its limits; 0 if none did.
  double sustain_rps = 0;
  // The highest of the ramp, whether or not it met them.
  double peak_rps = 0;
  // At the steps of `sustain_rps`, or if there are none, of `peak_rps`. 0: unknown.
  double cpu_us_per_request = 0;
  double cpu_percent = 0;
  double rss_bytes = 0;
  std::size_t repeats = 0;
  std::uint64_t errors = 0;  // Of all steps that the figure is made of, good or not.
  std::string note;          // The first that a row has.
};

// One per arm and row key, in the order in which the arms were run. Rows of a fixed rate are left
// out: they say nothing about how much an arm can do.
[[nodiscard]] std::vector<Figure> summarise(std::span<const Row> rows);

// The same at one concurrency only: sustain_rps is the median of the rows that met their limits,
// peak_rps the median of all. nullopt: no such row.
[[nodiscard]] std::optional<Figure> figure_at(std::span<const Row> rows, std::string_view arm,
                                              std::string_view row_key, std::uint32_t concurrency);

// A control shows what a proxy costs at least, and wins no medal.
[[nodiscard]] bool is_control(std::string_view product) noexcept;
// An arm that runs a product in another way than the comparison asks for (decrypting, or with a
// filter): it is compared with its own product only.
[[nodiscard]] bool is_variant(std::string_view arm) noexcept;

}  // namespace titanium::probe
