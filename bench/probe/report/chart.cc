// SPDX-License-Identifier: MIT
#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace titanium::probe {
namespace {

// All in pixels.
constexpr double kWidth = 860;
constexpr double kBarLeft = 170;
constexpr double kBarRight = 760;  // The value stands to the right of a bar.
constexpr double kBarHeight = 14;
constexpr double kBarStep = 18;
constexpr double kTitleHeight = 34;
constexpr double kRowTitleHeight = 22;
constexpr double kRowGap = 8;
constexpr double kMargin = 16;
// Lines to read lengths by, per panel.
constexpr int kGridLines = 4;

constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#1f2328}"
    ".page{fill:#ffffff}.title{font-size:15px;font-weight:600}.row{font-weight:600}"
    ".name{text-anchor:end}.grid{stroke:#d1d9e0}.tick{fill:#59636e;text-anchor:middle}"
    ".own{fill:#0969da}.peer{fill:#8c959f}.control{fill:none;stroke:#8c959f}"
    "@media (prefers-color-scheme:dark){"
    "text{fill:#f0f6fc}.page{fill:#0d1117}.grid{stroke:#3d444d}.tick{fill:#9198a1}"
    ".own{fill:#4493f8}.peer{fill:#656c76}.control{stroke:#9198a1}}";

[[nodiscard]] std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        // XML 1.0 has no way to write a control character.
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

[[nodiscard]] bool has_bar(const Figure& figure) {
  return figure.cpu_us_per_request > 0 && !figure.product.starts_with("origin-direct");
}

[[nodiscard]] std::size_t bars_of(const TableRow& row) {
  return static_cast<std::size_t>(std::ranges::count_if(row.figures, has_bar));
}

[[nodiscard]] std::string row_title(const TableRow& row) {
  std::string title =
      fmt::format("{} → {}", wire_words(row.key.client), wire_words(row.key.origin));
  if (row.key.client == kWires.size()) return row.row_key;
  if (!row.key.workload.empty()) title += fmt::format(", {}", workload_words(row.key.workload));
  return title;
}

// The first of 1, 2, 5, 10, 20 … of which kGridLines reach at least `most`.
[[nodiscard]] double grid_step(double most) {
  const double decade = std::pow(10, std::floor(std::log10(most / kGridLines)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (decade * factor * kGridLines >= most) return decade * factor;
  }
  return decade * 10;
}

class Drawing {
 public:
  [[nodiscard]] std::string render(const Tables& tables) {
    for (const Table& table : tables.tables) add_panel(table);
    if (body_.empty()) text(kMargin, y_ + 20, "row", "No CPU times in these results");
    const double height = y_ + kMargin + (body_.empty() ? 0 : 10);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n"
        "<title>CPU time of the proxy per request</title>\n<style>{2}</style>\n"
        "<rect class=\"page\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{3}</svg>\n",
        kWidth, height, kStyle, body_);
  }

 private:
  void add_panel(const Table& table) {
    double most = 0;
    for (const TableRow& row : table.rows) {
      for (const Figure& figure : row.figures) {
        if (has_bar(figure)) most = std::max(most, figure.cpu_us_per_request);
      }
    }
    if (most <= 0) return;
    const double step = grid_step(most);
    scale_ = (kBarRight - kBarLeft) / (step * kGridLines);
    y_ += kTitleHeight;
    text(kMargin, y_ - 10, "title",
         fmt::format("{}: CPU µs per request, less is better", workload_group(table.group).title));
    const double top = y_;
    for (const TableRow& row : table.rows) add_row(table, row);
    add_grid(top, step);
  }

  void add_row(const Table& table, const TableRow& row) {
    if (bars_of(row) == 0) return;
    y_ += kRowTitleHeight;
    text(kMargin, y_ - 6, "row", row_title(row));
    for (const std::string& product : table.products) {
      const Figure* figure = row.find(product);
      if (figure != nullptr && has_bar(*figure)) add_bar(*figure);
    }
    y_ += kRowGap;
  }

  void add_bar(const Figure& figure) {
    const double width = figure.cpu_us_per_request * scale_;
    const std::string_view kind = figure.product == "titanium" ? "own"
                                  : is_control(figure.product) ? "control"
                                                               : "peer";
    text(kBarLeft - 8, y_ + 11, "name", product_words(figure.product));
    body_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" "
        "rx=\"2\"/>\n",
        kind, kBarLeft, y_, width, kBarHeight);
    text(kBarLeft + width + 6, y_ + 11, "value", fmt::format("{:.1f}", figure.cpu_us_per_request));
    y_ += kBarStep;
  }

  void add_grid(double top, double step) {
    for (int i = 0; i <= kGridLines; ++i) {
      const double x = kBarLeft + i * step * scale_;
      body_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
          "stroke-dasharray=\"2 4\"/>\n",
          x, top, y_);
      text(x, y_ + 14, "tick", fmt::format("{:g}", i * step));
    }
    y_ += 24;
  }

  void text(double x, double y, std::string_view kind, std::string_view words) {
    body_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                         xml_text(words));
  }

  std::string body_;
  double y_ = 0;
  double scale_ = 1;  // Pixels per microsecond.
};

}  // namespace

std::string render_chart(const Tables& tables) { return Drawing().render(tables); }

}  // namespace titanium::probe
