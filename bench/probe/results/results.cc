// SPDX-License-Identifier: MIT
#include "results/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace titanium::probe {
namespace {

struct Prefix {
  std::string_view arm;
  std::string_view product;
};
// From the name of an arm to the product, for files that do not say it. The first that fits.
constexpr auto kPrefixes = std::to_array<Prefix>({
    {"twp-", "titanium"},
    {"origin-direct", "origin-direct"},
    {"bare-relay", "bare-relay"},
    {"bare-reverse", "bare-reverse-http1"},
});

[[nodiscard]] std::string product_of(std::string_view arm) {
  for (const Prefix& prefix : kPrefixes) {
    if (arm.starts_with(prefix.arm)) return std::string(prefix.product);
  }
  return std::string(arm.substr(0, arm.find('-')));  // "nginx-reverse-http1"
}

[[nodiscard]] std::optional<std::string> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || file.bad()) return std::nullopt;
  return text;
}

void add_environment(Results& results, const std::string& csv_name) {
  const std::string name =
      csv_name.substr(0, csv_name.size() - (csv_name.ends_with(".csv") ? 4 : 0)) +
      "-environment.json";
  const auto text = read_file(name);
  if (!text) return;
  auto environment = parse_environment(*text);
  if (environment) {
    results.environments.push_back(*std::move(environment));
  } else {
    results.warnings.push_back(fmt::format("{}: {}", name, environment.error()));
  }
}

// The rows of one repeat of an arm, for which a step can be chosen.
[[nodiscard]] const Row* sustained(const std::vector<const Row*>& ramp) {
  const Row* best = nullptr;
  for (const Row* row : ramp) {
    if (row->meets_slo && (best == nullptr || row->concurrency >= best->concurrency)) best = row;
  }
  return best;
}

[[nodiscard]] const Row* peak(const std::vector<const Row*>& ramp) {
  return *std::ranges::max_element(ramp, {}, [](const Row* row) { return row->rps; });
}

// `chosen` may be null: a repeat without such a row counts as 0 requests/s.
[[nodiscard]] double median_rps(const std::vector<const Row*>& chosen) {
  std::vector<double> values;
  for (const Row* row : chosen) values.push_back(row == nullptr ? 0 : row->rps);
  return median(std::move(values));
}

void add_costs(Figure& figure, const std::vector<const Row*>& chosen) {
  std::vector<double> cpu;
  std::vector<double> percent;
  std::vector<double> rss;
  for (const Row* row : chosen) {
    if (row == nullptr) continue;
    cpu.push_back(row->cpu_us_per_request);
    percent.push_back(row->proxy_cpu_avg_pct);
    rss.push_back(static_cast<double>(row->proxy_rss_peak_bytes));
  }
  figure.cpu_us_per_request = median(std::move(cpu));
  figure.cpu_percent = median(std::move(percent));
  figure.rss_bytes = median(std::move(rss));
}

// All but the figures themselves.
[[nodiscard]] Figure describe(const std::vector<const Row*>& rows) {
  const Row& first = *rows.front();
  Figure figure;
  figure.arm = first.arm;
  figure.row_key = first.row_key;
  figure.product = first.product;
  std::vector<std::string> generators;
  for (const Row* row : rows) {
    if (!std::ranges::contains(generators, row->generator)) generators.push_back(row->generator);
    if (figure.note.empty()) figure.note = row->note;
    figure.errors += row->errors;
  }
  figure.generator = fmt::format("{}", fmt::join(generators, " + "));
  return figure;
}

[[nodiscard]] Figure summarise_arm(const std::vector<const Row*>& rows) {
  std::map<std::uint32_t, std::vector<const Row*>> by_repeat;
  for (const Row* row : rows) by_repeat[row->repeat].push_back(row);
  std::vector<const Row*> sustains;
  std::vector<const Row*> peaks;
  for (const auto& [repeat, ramp] : by_repeat) {
    sustains.push_back(sustained(ramp));
    peaks.push_back(peak(ramp));
  }
  Figure figure = describe(rows);
  figure.repeats = by_repeat.size();
  figure.sustain_rps = median_rps(sustains);
  figure.peak_rps = median_rps(peaks);
  add_costs(figure, figure.sustain_rps > 0 ? sustains : peaks);
  return figure;
}

}  // namespace

void add_rows(Results& results, std::vector<Row> rows) {
  std::uint32_t before = 0;
  for (const Row& row : results.rows) before = std::max(before, row.repeat);
  for (Row& row : rows) {
    row.repeat += before;
    if (row.product.empty()) row.product = product_of(row.arm);
    results.rows.push_back(std::move(row));
  }
}

std::expected<Results, std::string> load_results(const std::vector<std::string>& files) {
  Results results;
  for (const std::string& name : files) {
    const auto text = read_file(name);
    if (!text) return std::unexpected(fmt::format("{}: can not be read", name));
    std::string warning;
    auto rows = read_csv(*text, &warning);
    if (!rows) return std::unexpected(fmt::format("{}: {}", name, rows.error()));
    if (!warning.empty()) results.warnings.push_back(fmt::format("{}: {}", name, warning));
    add_rows(results, *std::move(rows));
    add_environment(results, name);
    results.files.push_back(name);
  }
  return results;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<Figure> summarise(std::span<const Row> rows) {
  using Key = std::pair<std::string_view, std::string_view>;
  std::vector<Key> order;
  std::map<Key, std::vector<const Row*>> arms;
  for (const Row& row : rows) {
    if (row.rate > 0) continue;
    const Key key{row.row_key, row.arm};
    auto& of_arm = arms[key];
    if (of_arm.empty()) order.push_back(key);
    of_arm.push_back(&row);
  }
  std::vector<Figure> figures;
  figures.reserve(order.size());
  for (const Key& key : order) figures.push_back(summarise_arm(arms[key]));
  return figures;
}

std::optional<Figure> figure_at(std::span<const Row> rows, std::string_view arm,
                                std::string_view row_key, std::uint32_t concurrency) {
  std::vector<const Row*> all;
  std::vector<const Row*> good;
  for (const Row& row : rows) {
    if (row.rate > 0 || row.arm != arm || row.row_key != row_key ||
        row.concurrency != concurrency) {
      continue;
    }
    all.push_back(&row);
    if (row.meets_slo) good.push_back(&row);
  }
  if (all.empty()) return std::nullopt;
  Figure figure = describe(all);
  figure.repeats = all.size();
  figure.sustain_rps = median_rps(good);
  figure.peak_rps = median_rps(all);
  add_costs(figure, good.empty() ? all : good);
  return figure;
}

bool is_control(std::string_view product) noexcept {
  return product.starts_with("origin-direct") || product.starts_with("bare-");
}

bool is_variant(std::string_view arm) noexcept {
  return arm.starts_with("twp-mitm") || arm.starts_with("twp-cli-");
}

}  // namespace titanium::probe
