// SPDX-License-Identifier: MIT
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace titanium::probe {
namespace {

constexpr std::string_view kOwn = "titanium";

[[nodiscard]] bool is_peer(const Figure& figure) noexcept {
  return figure.product != kOwn && !is_control(figure.product);
}

[[nodiscard]] std::optional<Ratio> ratio(const TableRow& row, const Figure* other,
                                         double Figure::* member) {
  const Figure* own = row.find(kOwn);
  if (own == nullptr || other == nullptr || own->generator != other->generator) return std::nullopt;
  if (own->*member <= 0 || other->*member <= 0) return std::nullopt;
  return Ratio{.value = own->*member / (other->*member), .other = other};
}

// The peer for which `better` holds against all others. Only those that Titanium may be compared
// with, and that have the figure.
template <typename Better>
[[nodiscard]] const Figure* best_peer(const TableRow& row, double Figure::* member, Better better) {
  const Figure* own = row.find(kOwn);
  const Figure* best = nullptr;
  for (const Figure& figure : row.figures) {
    if (!is_peer(figure) || figure.*member <= 0) continue;
    if (own != nullptr && own->generator != figure.generator) continue;
    if (best == nullptr || better(figure.*member, best->*member)) best = &figure;
  }
  return best;
}

[[nodiscard]] std::vector<std::string> columns_of(const std::vector<TableRow>& rows) {
  std::vector<std::string> products;
  for (const TableRow& row : rows) {
    for (const Figure& figure : row.figures) {
      if (!std::ranges::contains(products, figure.product)) products.push_back(figure.product);
    }
  }
  std::ranges::stable_sort(products, {}, product_rank);
  return products;
}

}  // namespace

const Figure* TableRow::find(std::string_view product) const noexcept {
  const auto found = std::ranges::find(figures, product, &Figure::product);
  return found == figures.end() ? nullptr : &*found;
}

Tables build_tables(const Results& results) {
  Tables all;
  std::map<std::size_t, std::vector<TableRow>> groups;
  for (Figure& figure : summarise(results.rows)) {
    if (figure.row_key.empty() || is_variant(figure.arm)) {
      all.others.push_back(std::move(figure));
      continue;
    }
    RowKey key = parse_row_key(figure.row_key);
    std::vector<TableRow>& rows = groups[group_of(key.workload)];
    auto row = std::ranges::find(rows, figure.row_key, &TableRow::row_key);
    if (row == rows.end()) {
      rows.push_back({.row_key = figure.row_key, .key = std::move(key), .figures = {}});
      row = rows.end() - 1;
    }
    auto& place = row->find(figure.product) == nullptr ? row->figures : all.others;
    place.push_back(std::move(figure));
  }
  for (auto& [group, rows] : groups) {
    std::ranges::stable_sort(rows, {}, [](const TableRow& row) { return row_rank(row.key); });
    std::vector<std::string> products = columns_of(rows);
    all.tables.push_back(
        {.group = group, .products = std::move(products), .rows = std::move(rows)});
  }
  return all;
}

std::string refusal(const TableRow& row) {
  const Figure* first = nullptr;
  for (const Figure& figure : row.figures) {
    // The origin alone is often loaded by a second generator, as a check of the first.
    if (figure.product.starts_with("origin-direct")) continue;
    if (first == nullptr) first = &figure;
    if (figure.generator == first->generator) continue;
    return fmt::format("{} was loaded by {}, {} by {}", first->arm, first->generator, figure.arm,
                       figure.generator);
  }
  return {};
}

const Figure* winner(const TableRow& row) {
  if (!refusal(row).empty()) return nullptr;
  const auto order = [](const Figure& figure) {
    return std::tuple(-figure.sustain_rps, figure.rss_bytes, figure.cpu_us_per_request);
  };
  const Figure* best = nullptr;
  std::size_t products = 0;
  for (const Figure& figure : row.figures) {
    if (is_control(figure.product)) continue;
    ++products;
    if (best == nullptr || order(figure) < order(*best)) best = &figure;
  }
  return products < 2 || best->sustain_rps <= 0 ? nullptr : best;
}

std::optional<Ratio> rps_ratio_to_best_peer(const TableRow& row) {
  return ratio(row, best_peer(row, &Figure::sustain_rps, std::greater<>()), &Figure::sustain_rps);
}

std::optional<Ratio> cpu_ratio_to_best_peer(const TableRow& row) {
  return ratio(row, best_peer(row, &Figure::cpu_us_per_request, std::less<>()),
               &Figure::cpu_us_per_request);
}

std::optional<Ratio> rps_ratio(const TableRow& row, std::string_view product) {
  return ratio(row, row.find(product), &Figure::sustain_rps);
}

std::optional<Ratio> cpu_ratio(const TableRow& row, std::string_view product) {
  return ratio(row, row.find(product), &Figure::cpu_us_per_request);
}

}  // namespace titanium::probe
