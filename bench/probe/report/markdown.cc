// SPDX-License-Identifier: MIT
#include "report/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace titanium::probe {
namespace {

constexpr std::string_view kNone = "—";
constexpr std::string_view kRelay = "bare-relay";
constexpr std::string_view kOriginDirect = "origin-direct";
constexpr double kMebibyte = 1024.0 * 1024.0;

// Text of a file inside a cell: it must not end the cell or the line, or become HTML.
[[nodiscard]] std::string cell_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') {
      safe += "\\|";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      safe += ' ';
    } else {
      safe += c;
    }
  }
  return safe;
}

// 53012.4 → "53,012"; small ones keep a digit, "7.4".
[[nodiscard]] std::string with_commas(double value) {
  if (value > 0 && value < 100) return fmt::format("{:.1f}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

class MarkdownTable {
 public:
  explicit MarkdownTable(const std::vector<std::string>& header) {
    add(header);
    add(std::vector<std::string>(header.size(), "---"));
  }
  void add(const std::vector<std::string>& cells) {
    text_ += fmt::format("| {} |\n", fmt::join(cells, " | "));
  }
  [[nodiscard]] std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

// "16.5 µs · 12.3 MiB"; files of the original have no time per request, but CPU %.
[[nodiscard]] std::string costs(const Figure& figure) {
  std::vector<std::string> parts;
  if (figure.cpu_us_per_request > 0) {
    parts.push_back(fmt::format("{:.1f} µs", figure.cpu_us_per_request));
  } else if (figure.cpu_percent > 0) {
    parts.push_back(fmt::format("{:.1f} % CPU", figure.cpu_percent));
  }
  if (figure.rss_bytes > 0)
    parts.push_back(fmt::format("{:.1f} MiB", figure.rss_bytes / kMebibyte));
  return fmt::format("{}", fmt::join(parts, " · "));
}

// A ramp often goes a little higher one step earlier; the peak is worth its place only if the
// sustained figure hides something.
[[nodiscard]] bool shows_peak(const Figure& figure) {
  return figure.peak_rps > 0 && figure.sustain_rps < 0.95 * figure.peak_rps;
}

[[nodiscard]] std::string figure_text(const Figure& figure, bool wins) {
  std::vector<std::string> details;
  if (shows_peak(figure)) details.push_back("peak " + with_commas(figure.peak_rps));
  if (std::string text = costs(figure); !text.empty()) details.push_back(std::move(text));
  std::string cell = wins ? "🥇 " : "";
  cell += fmt::format("**{}**", with_commas(figure.sustain_rps));
  if (!details.empty()) cell += fmt::format(" <sub>({})</sub>", fmt::join(details, " · "));
  return cell;
}

[[nodiscard]] std::string ratio_text(const std::optional<Ratio>& ratio) {
  return ratio ? fmt::format("{:.2f}×", ratio->value) : std::string(kNone);
}

[[nodiscard]] const Environment::AbsentArm* find_absent(const Results& results,
                                                        std::string_view row_key,
                                                        std::string_view product) {
  for (const Environment& environment : results.environments) {
    for (const Environment::AbsentArm& arm : environment.absent) {
      if (arm.row_key == row_key && arm.product == product) return &arm;
    }
  }
  return nullptr;
}

[[nodiscard]] std::string absent_text(const Environment::AbsentArm& arm) {
  std::string text = cell_text(arm.status);
  if (arm.status != "not installed" && !arm.reason.empty()) {
    text += fmt::format(" ({})", cell_text(arm.reason));
  }
  return text;
}

// One workload table with its notes.
class WorkloadSection {
 public:
  WorkloadSection(const Results& results, const Table& table)
      : results_(results), table_(table), group_(workload_group(table.group)) {
    for (const std::string& product : table.products) {
      // Without a proxy between, it belongs to the saturation tables.
      if (!product.starts_with(kOriginDirect)) columns_.push_back(product);
    }
    has_relay_ = std::ranges::contains(columns_, kRelay);
  }

  [[nodiscard]] std::string render() const {
    std::string text =
        fmt::format("## {}\n\n{} Figures: {}.\n\n", group_.title, group_.what, group_.unit);
    text += omitted_columns();
    MarkdownTable markdown(header());
    for (const TableRow& row : table_.rows) markdown.add(cells(row));
    text += markdown.take();
    for (const TableRow& row : table_.rows) {
      if (const std::string why = refusal(row); !why.empty()) {
        text += fmt::format("No medal and no ratio between them in `{}`: {}.\n\n",
                            cell_text(row.row_key), cell_text(why));
      }
    }
    return text;
  }

 private:
  [[nodiscard]] std::vector<std::string> header() const {
    std::vector<std::string> names;
    if (group_.has_workload_column) names.emplace_back("Workload");
    names.insert(names.end(), {"Client", "Origin"});
    for (const std::string& product : columns_) {
      names.push_back(cell_text(product_words(product)));
    }
    names.insert(names.end(), {"÷ best peer", "CPU ÷ best peer"});
    if (has_relay_) names.insert(names.end(), {"÷ bare-relay", "CPU ÷ bare-relay"});
    return names;
  }

  [[nodiscard]] std::vector<std::string> cells(const TableRow& row) const {
    std::vector<std::string> cells;
    if (group_.has_workload_column) cells.push_back(cell_text(workload_words(row.key.workload)));
    cells.emplace_back(wire_words(row.key.client));
    cells.emplace_back(wire_words(row.key.origin));
    const Figure* best = winner(row);
    for (const std::string& product : columns_) {
      const Figure* figure = row.find(product);
      cells.push_back(figure != nullptr ? figure_text(*figure, figure == best)
                                        : absent_cell(row.row_key, product));
    }
    cells.push_back(ratio_text(rps_ratio_to_best_peer(row)));
    cells.push_back(ratio_text(cpu_ratio_to_best_peer(row)));
    if (has_relay_) {
      cells.push_back(ratio_text(rps_ratio(row, kRelay)));
      cells.push_back(ratio_text(cpu_ratio(row, kRelay)));
    }
    return cells;
  }

  [[nodiscard]] std::string absent_cell(std::string_view row_key, std::string_view product) const {
    if (is_control(product)) return std::string(kNone);
    const Environment::AbsentArm* arm = find_absent(results_, row_key, product);
    return arm == nullptr ? "not measured" : absent_text(*arm);
  }

  // Products of which the table has no figure at all get a sentence instead of a column.
  [[nodiscard]] std::string omitted_columns() const {
    std::set<std::string> seen(columns_.begin(), columns_.end());
    std::vector<std::string> sentences;
    for (const TableRow& row : table_.rows) {
      for (const Environment& environment : results_.environments) {
        for (const Environment::AbsentArm& arm : environment.absent) {
          if (arm.row_key != row.row_key || !seen.insert(arm.product).second) continue;
          sentences.push_back(
              fmt::format("{}: {}", cell_text(product_words(arm.product)), absent_text(arm)));
        }
      }
    }
    if (sentences.empty()) return {};
    return fmt::format("Without a column: {}.\n\n", fmt::join(sentences, "; "));
  }

  const Results& results_;
  const Table& table_;
  const WorkloadGroup& group_;
  std::vector<std::string> columns_;
  bool has_relay_ = false;
};

// How near the generator and the origin are to their own limit, for each row that has an arm
// without a proxy. By peaks, as this is about what the machine can do.
[[nodiscard]] std::string render_saturation(const TableRow& row) {
  const Figure* direct = row.find(kOriginDirect);
  if (direct == nullptr || direct->peak_rps <= 0) return {};
  MarkdownTable markdown({"Arm", "Generator", "Peak requests/s", "% of origin-direct"});
  std::vector<const Figure*> figures;
  for (const Figure& figure : row.figures) figures.push_back(&figure);
  std::ranges::stable_sort(figures, std::greater<>(), &Figure::peak_rps);
  const Figure* best = winner(row);
  for (const Figure* figure : figures) {
    const std::string share =
        figure->generator == direct->generator
            ? fmt::format("{:.1f} %", 100 * figure->peak_rps / direct->peak_rps)
            : fmt::format("{} (another generator)", kNone);
    const std::string cost = costs(*figure);
    markdown.add(
        {fmt::format("`{}`", cell_text(figure->arm)), cell_text(figure->generator),
         fmt::format("{}**{}**{}", figure == best ? "🥇 " : "", with_commas(figure->peak_rps),
                     cost.empty() ? "" : fmt::format(" <sub>({})</sub>", cost)),
         share});
  }
  return fmt::format("### {} → {}{}\n\n", wire_words(row.key.client), wire_words(row.key.origin),
                     row.key.workload.empty()
                         ? ""
                         : fmt::format(", {}", cell_text(workload_words(row.key.workload)))) +
         markdown.take();
}

[[nodiscard]] std::string render_saturations(const Tables& tables) {
  std::string text;
  for (const Table& table : tables.tables) {
    for (const TableRow& row : table.rows) text += render_saturation(row);
  }
  if (text.empty()) return {};
  return "## Saturation\n\nHow near generator and origin come to their own limit without a proxy "
         "between them.\n\n" +
         text;
}

[[nodiscard]] std::string render_others(const Tables& tables) {
  if (tables.others.empty()) return {};
  MarkdownTable markdown({"Arm", "Row", "Sustain"});
  for (const Figure& figure : tables.others) {
    markdown.add({fmt::format("`{}`", cell_text(figure.arm)), cell_text(figure.row_key),
                  figure_text(figure, false)});
  }
  return "## Further arms\n\n" + markdown.take();
}

[[nodiscard]] std::string render_fixed_rates(const Results& results) {
  MarkdownTable markdown(
      {"Arm", "Row", "Rate", "Connections", "Answered/s", "p50", "p99", "Longest"});
  bool any = false;
  for (const Row& row : results.rows) {
    if (row.rate <= 0) continue;
    any = true;
    markdown.add({fmt::format("`{}`", cell_text(row.arm)), cell_text(row.row_key),
                  with_commas(row.rate), std::to_string(row.concurrency), with_commas(row.rps),
                  fmt::format("{:.2f} ms", row.p50_ms), fmt::format("{:.2f} ms", row.p99_ms),
                  fmt::format("{:.2f} ms", row.max_ms)});
  }
  if (!any) return {};
  return "## Fixed rate\n\nRequests are sent at fixed times, however slow the answers are; latency "
         "counts from the time at which a request was due.\n\n" +
         markdown.take();
}

// Rows that have something to tell: errors, aborted steps.
[[nodiscard]] std::string render_notes(const Results& results) {
  std::string text;
  for (const std::string& warning : results.warnings) {
    text += fmt::format("- {}\n", cell_text(warning));
  }
  constexpr std::size_t kMost = 20;
  std::size_t notes = 0;
  for (const Row& row : results.rows) {
    if (row.note.empty() || ++notes > kMost) continue;
    text += fmt::format("- `{}` `{}` at {} connections, repeat {}: {}\n", cell_text(row.arm),
                        cell_text(row.row_key), row.concurrency, row.repeat, cell_text(row.note));
  }
  if (notes > kMost) text += fmt::format("- … and {} more\n", notes - kMost);
  return text.empty() ? text : "## Notes\n\n" + text + "\n";
}

[[nodiscard]] std::string render_versions(const Results& results) {
  MarkdownTable markdown({"Product", "Version", "Flags"});
  std::set<std::pair<std::string, std::string>> seen;
  for (const Environment& environment : results.environments) {
    for (const Environment::Product& product : environment.products) {
      if (!seen.emplace(product.name, product.version).second) continue;
      markdown.add({cell_text(product_words(product.name)), cell_text(product.version),
                    cell_text(product.flags)});
    }
  }
  for (const Row& row : results.rows) {
    if (row.product_version.empty() || !seen.emplace(row.product, row.product_version).second) {
      continue;
    }
    markdown.add({cell_text(product_words(row.product)), cell_text(row.product_version), ""});
  }
  return seen.empty() ? std::string() : "## Versions\n\n" + markdown.take();
}

// The different values of a column, in the order of their size.
template <typename Value>
[[nodiscard]] std::string distinct(const Results& results, Value value) {
  std::set<decltype(value(results.rows.front()))> values;
  for (const Row& row : results.rows) values.insert(value(row));
  return fmt::format("{}", fmt::join(values, ", "));
}

[[nodiscard]] std::string render_how(const Results& results) {
  std::string text = "## How it was taken\n\n";
  for (const std::string& file : results.files) text += fmt::format("- File: `{}`\n", file);
  for (const Environment& environment : results.environments) {
    if (!environment.command.empty()) {
      text += fmt::format("- Command: `{}`\n", cell_text(environment.command));
    }
    for (const auto& [name, value] : environment.machine) {
      text += fmt::format("- {}: {}\n", cell_text(name), cell_text(value));
    }
  }
  std::uint32_t repeats = 0;
  for (const Row& row : results.rows) repeats = std::max(repeats, row.repeat);
  if (!results.rows.empty()) {
    text += fmt::format("- Repeats: {}\n", repeats);
    text += fmt::format("- Requests in flight: {}\n",
                        distinct(results, [](const Row& row) { return row.concurrency; }));
    text += fmt::format("- Measured per step: {} s\n", distinct(results, [](const Row& row) {
                          return std::round(row.duration_s * 10) / 10;
                        }));
    text += fmt::format("- Generator: {}\n",
                        cell_text(distinct(results, [](const Row& row) { return row.generator; })));
  }
  return text;
}

constexpr std::string_view kHowToRead =
    "Bold is what was sustained: requests/s of the highest step that met its error and latency "
    "limits, the median over the repeats; 0 if none did. In parentheses: the peak of the ramp "
    "where "
    "it is more than 5 % above; CPU time of the proxy (user and system, all its processes) per "
    "request; its peak resident memory. 🥇 is the best product of a row; controls (`bare-…`) and "
    "the origin alone win nothing. Ratios are Titanium divided by the best other product of that "
    "row, for CPU by the one that needs least: above 1 is better for requests/s, below 1 for CPU. "
    "Generator, origin and proxy share one machine, so CPU per request is the figure to go by, and "
    "figures compare within one run only.\n\n";

}  // namespace

std::string render_markdown(const Results& results, const Tables& tables) {
  std::string text = "# Measurements\n\n";
  text += kHowToRead;
  for (const Table& table : tables.tables) text += WorkloadSection(results, table).render();
  text += render_saturations(tables);
  text += render_others(tables);
  text += render_fixed_rates(results);
  text += render_notes(results);
  text += render_versions(results);
  text += render_how(results);
  return text;
}

}  // namespace titanium::probe
