// SPDX-License-Identifier: MIT
#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "report/row_key.h"

namespace titanium::probe {
namespace {

constexpr std::string_view kOwn = "titanium";
constexpr double kMebibyte = 1024.0 * 1024.0;

[[nodiscard]] std::string cell(std::string_view client, std::string_view origin,
                               std::string_view workload = {}) {
  return fmt::format("{}-{}{}{}", client, origin, workload.empty() ? "" : "-", workload);
}

template <typename Wanted>
[[nodiscard]] std::vector<std::string> cells_where(Wanted wanted) {
  std::vector<std::string> keys;
  for (const std::string_view client : kWires) {
    for (const std::string_view origin : kWires) {
      if (wanted(client, origin)) keys.push_back(cell(client, origin));
    }
  }
  return keys;
}

void add_key(std::vector<std::string>& keys, std::string key) {
  if (!std::ranges::contains(keys, key)) keys.push_back(std::move(key));
}

// The rows of a workload: those that have to be there, and those that are.
[[nodiscard]] std::vector<std::string> workload_keys(std::vector<std::string> keys,
                                                     std::string_view workload,
                                                     const Results& results) {
  for (const Row& row : results.rows) {
    if (parse_row_key(row.row_key).workload == workload) add_key(keys, row.row_key);
  }
  return keys;
}

[[nodiscard]] std::vector<std::string> to_h1(std::string_view workload) {
  std::vector<std::string> keys;
  for (const std::string_view client : kWires) keys.push_back(cell(client, "h1c", workload));
  return keys;
}

[[nodiscard]] std::vector<std::string> row_keys(Scope scope, const Results& results) {
  switch (scope) {
    case Scope::h1_to_h1:
      return {"h1c-h1c"};
    case Scope::h1_tls_cells:
      return {"h1c-h1tls", "h1tls-h1c", "h1tls-h1tls"};
    case Scope::all_but_h1_to_h1:
      return cells_where(
          [](auto client, auto origin) { return client != "h1c" || origin != "h1c"; });
    case Scope::h2_to_h2:
      return {"h2c-h2c", "h2c-h2tls", "h2tls-h2c", "h2tls-h2tls"};
    case Scope::body64k:
      return workload_keys(to_h1("body64k"), "body64k", results);
    case Scope::body256k:
      return workload_keys(to_h1("body256k"), "body256k", results);
    case Scope::post64k:
      return workload_keys(to_h1("post64k"), "post64k", results);
    case Scope::grpc:
      return {"h2tls-h2tls-grpc", "h2tls-h2c-grpc-h2c"};
    case Scope::early_and_duplex:
      return workload_keys(
          workload_keys({"h2tls-h2tls-early64k", "h2tls-h2tls-duplex-h2"}, "early64k", results),
          "duplex-h2", results);
    case Scope::new_tls_connections:
      return workload_keys({"h1tls-h1c-nc-tiny"}, "nc-tiny", results);
    case Scope::all_cells:
    case Scope::mitm_lite:
    case Scope::mitm_full:
    case Scope::one_arm:
      break;
  }
  return cells_where([](auto, auto) { return true; });
}

// ---- Figures.

using Figures = std::vector<Figure>;

// Each arm of a row.
[[nodiscard]] Figures figures_of_row(const Results& results, std::string_view row_key) {
  Figures figures;
  for (const Row& row : results.rows) {
    if (row.row_key != row_key || std::ranges::contains(figures, row.arm, &Figure::arm)) continue;
    if (auto figure = figure_at(results.rows, row.arm, row_key, kTargetConcurrency)) {
      figures.push_back(*std::move(figure));
    }
  }
  return figures;
}

[[nodiscard]] std::optional<Figure> figure_of_arm(const Results& results, std::string_view arm) {
  for (const Row& row : results.rows) {
    if (row.arm != arm) continue;
    if (auto figure = figure_at(results.rows, arm, row.row_key, kTargetConcurrency)) return figure;
  }
  return std::nullopt;
}

[[nodiscard]] std::optional<Figure> figure_of_product(const Figures& figures,
                                                      std::string_view product) {
  for (const Figure& figure : figures) {
    if (figure.product == product && !is_variant(figure.arm)) return figure;
  }
  return std::nullopt;
}

// Titanium's own figure counts only if it met its limits. Another's counts as it is: a peer that
// missed them must not make a target easier to reach.
[[nodiscard]] double value_of(const Figure& figure, Measure measure) {
  switch (measure) {
    case Measure::cpu:
      return figure.cpu_us_per_request;
    case Measure::memory:
      return figure.rss_bytes / kMebibyte;
    case Measure::errors:
      return static_cast<double>(figure.errors);
    case Measure::rps:
      break;
  }
  return figure.sustain_rps > 0 ? figure.sustain_rps : figure.peak_rps;
}

[[nodiscard]] bool met_limits(const Figure& figure) { return figure.sustain_rps > 0; }

[[nodiscard]] bool is_better(Measure measure, double value, double than) {
  return measure == Measure::rps ? value > than : value < than;
}

[[nodiscard]] std::optional<Figure> best_peer(const Figures& figures, Measure measure) {
  const Figure* best = nullptr;
  for (const Figure& figure : figures) {
    if (figure.product == kOwn || is_control(figure.product)) continue;
    const double value = value_of(figure, measure);
    if (value <= 0) continue;
    if (best == nullptr || is_better(measure, value, value_of(*best, measure))) best = &figure;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// Of the same row as origin-direct, as other rows may have other bodies or TLS.
[[nodiscard]] std::optional<Figure> fastest_proxy(const Figures& figures) {
  const Figure* best = nullptr;
  for (const Figure& figure : figures) {
    if (is_control(figure.product)) continue;
    if (best == nullptr || figure.peak_rps > best->peak_rps) best = &figure;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

// ---- Words.

[[nodiscard]] std::string figure_words(const Figure& figure, Measure measure) {
  const double value = value_of(figure, measure);
  const std::string_view limits = met_limits(figure) ? "" : " (missed its limits)";
  switch (measure) {
    case Measure::cpu:
      return fmt::format("{} {:.1f} µs{}", figure.arm, value, limits);
    case Measure::memory:
      return fmt::format("{} {:.1f} MiB{}", figure.arm, value, limits);
    case Measure::errors:
      return fmt::format("{} {} errors{}", figure.arm, figure.errors, limits);
    case Measure::rps:
      break;
  }
  return fmt::format("{} {:.0f}/s{}", figure.arm, value, limits);
}

// "≤ 0.75, 12 % over".
[[nodiscard]] std::string distance_words(const Target& target, double value) {
  const bool at_most = target.bound == Bound::at_most;
  const std::string limit = fmt::format("{} {:g}", at_most ? "≤" : "≥", target.value);
  if (target.value == 0) return limit;  // Nothing is so and so much more than none.
  const double by = at_most ? value / target.value - 1 : 1 - value / target.value;
  if (by <= 0) return limit;
  return fmt::format("{}: {:.1f} % too {}", limit, 100 * by, at_most ? "much" : "little");
}

[[nodiscard]] Verdict not_measured(std::string row, std::string why) {
  return {.kind = Verdict::Kind::not_measured, .row = std::move(row), .text = std::move(why)};
}

[[nodiscard]] Verdict decide(const Target& target, std::string row, double value,
                             std::string figures) {
  const bool holds = target.bound == Bound::at_most ? value <= target.value : value >= target.value;
  return {.kind = holds ? Verdict::Kind::pass : Verdict::Kind::falls_short,
          .row = std::move(row),
          .text = fmt::format("{} = {:.2f} ({})", figures, value, distance_words(target, value))};
}

// Both figures, if there are any, to a verdict.
[[nodiscard]] Verdict compare(const Target& target, std::string row,
                              const std::optional<Figure>& own,
                              const std::optional<Figure>& other) {
  if (!own) {
    return not_measured(std::move(row),
                        fmt::format("no figure at {} connections", kTargetConcurrency));
  }
  if (target.against != Against::nothing && !other) {
    return not_measured(std::move(row), "nothing to compare with");
  }
  if (!met_limits(*own)) {
    return {.kind = Verdict::Kind::falls_short,
            .row = std::move(row),
            .text = fmt::format("{} missed its error or latency limit at {} connections", own->arm,
                                kTargetConcurrency)};
  }
  const double value = value_of(*own, target.measure);
  const std::string own_words = figure_words(*own, target.measure);
  // No errors are a figure too.
  if (value <= 0 && target.measure != Measure::errors) {
    return not_measured(std::move(row), own->arm + " has no such figure");
  }
  if (target.against == Against::nothing) return decide(target, std::move(row), value, own_words);
  if (own->generator != other->generator) {
    return not_measured(std::move(row),
                        fmt::format("{} was loaded by {}, {} by {}: not compared", own->arm,
                                    own->generator, other->arm, other->generator));
  }
  const double divisor = value_of(*other, target.measure);
  if (divisor <= 0) return not_measured(std::move(row), other->arm + " has no such figure");
  return decide(target, std::move(row), value / divisor,
                fmt::format("{} / {}", own_words, figure_words(*other, target.measure)));
}

[[nodiscard]] Verdict judge_row(const Target& target, const Results& results, std::string row_key) {
  const Figures figures = figures_of_row(results, row_key);
  std::optional<Figure> other;
  if (target.against == Against::best_peer) other = best_peer(figures, target.measure);
  if (target.against == Against::bare_relay) other = figure_of_product(figures, "bare-relay");
  if (target.against == Against::haproxy) other = figure_of_product(figures, "haproxy");
  return compare(target, std::move(row_key), figure_of_product(figures, kOwn), other);
}

// The arm of a decrypting variant, found by the prefix of its name and by its wires.
[[nodiscard]] std::optional<Figure> mitm_figure(const Results& results, bool full,
                                                std::string_view wires) {
  constexpr std::string_view kFull = "twp-mitm-full-";
  for (const Row& row : results.rows) {
    if (row.http_versions != wires || row.arm.starts_with(kFull) != full) continue;
    if (!row.arm.starts_with("twp-mitm-")) continue;
    if (auto figure = figure_of_arm(results, row.arm)) return figure;
  }
  return std::nullopt;
}

[[nodiscard]] Verdict judge_mitm(const Target& target, const Results& results,
                                 std::string row_key) {
  std::string wires = row_key;
  std::ranges::replace(wires, '-', '>');
  const Figures figures = figures_of_row(results, row_key);
  return compare(target, std::move(row_key),
                 mitm_figure(results, target.scope == Scope::mitm_full, wires),
                 figure_of_product(figures, kOwn));
}

[[nodiscard]] Verdict judge_arm(const Target& target, const Results& results) {
  std::string row(target.arm);
  if (target.against == Against::unmeasured) {
    return not_measured(std::move(row), "not in result files");
  }
  const auto own = figure_of_arm(results, target.arm);
  std::optional<Figure> other;
  if (target.against == Against::other_arm) other = figure_of_arm(results, target.baseline);
  if (target.against == Against::fastest_proxy && own) {
    other = fastest_proxy(figures_of_row(results, own->row_key));
  }
  return compare(target, std::move(row), own, other);
}

}  // namespace

std::vector<Verdict> judge(const Target& target, const Results& results) {
  if (target.scope == Scope::one_arm) return {judge_arm(target, results)};
  std::vector<Verdict> verdicts;
  for (std::string& key : row_keys(target.scope, results)) {
    const bool mitm = target.scope == Scope::mitm_lite || target.scope == Scope::mitm_full;
    verdicts.push_back(mitm ? judge_mitm(target, results, std::move(key))
                            : judge_row(target, results, std::move(key)));
  }
  return verdicts;
}

}  // namespace titanium::probe
