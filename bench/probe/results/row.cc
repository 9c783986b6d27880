// SPDX-License-Identifier: MIT
#include "results/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>

#include "results/csv_reader.h"

namespace titanium::probe {
namespace {

// ---- The text of a value, and back. Readers return false if the text is no such value.

void write(const std::string& value, std::string& out) { out += csv_field(value); }
void write(bool value, std::string& out) { out += value ? '1' : '0'; }
void write(std::unsigned_integral auto value, std::string& out) { out += std::to_string(value); }
// The shortest text that reads back as the same number, and never with an exponent, which some
// spreadsheets take for text. Nothing if there is no such number (0 requests, CPU per request).
void write(double value, std::string& out) {
  if (!std::isfinite(value)) return;
  std::array<char, 512> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
  out.append(text.data(), end);
}

[[nodiscard]] bool read(std::string_view text, std::string& value) {
  value = text;
  return true;
}
[[nodiscard]] bool read(std::string_view text, bool& value) {
  value = text == "1";
  return value || text == "0";
}
template <typename Number>
[[nodiscard]] bool read(std::string_view text, Number& value) {
  if (text.empty()) return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::floating_point<Number>) return std::isfinite(value) && value >= 0;
  return true;
}

struct Column {
  std::string_view name;
  void (*write)(const Row& row, std::string& out);
  bool (*read)(std::string_view text, Row& row);
};

template <auto Member>
[[nodiscard]] constexpr Column column(std::string_view name) {
  return {.name = name,
          .write = [](const Row& row, std::string& out) { write(row.*Member, out); },
          .read = [](std::string_view text, Row& row) { return read(text, row.*Member); }};
}

// How many of the columns each file has.
constexpr std::size_t kCommonColumns = 27;

constexpr auto kColumns = std::to_array<Column>({
    column<&Row::timestamp_utc>("timestamp_utc"),
    column<&Row::arm>("arm"),
    column<&Row::generator>("generator"),
    column<&Row::concurrency>("concurrency"),
    column<&Row::duration_s>("duration_s"),
    column<&Row::ok>("ok"),
    column<&Row::errors>("errors"),
    column<&Row::rps>("rps"),
    column<&Row::error_rate_pct>("error_rate_pct"),
    column<&Row::p50_ms>("p50_ms"),
    column<&Row::p99_ms>("p99_ms"),
    column<&Row::max_ms>("max_ms"),
    column<&Row::meets_slo>("meets_slo"),
    column<&Row::nginx_version>("nginx_version"),
    column<&Row::haproxy_version>("haproxy_version"),
    column<&Row::envoy_version>("envoy_version"),
    column<&Row::yarp_version>("yarp_version"),
    column<&Row::http_versions>("http_versions"),
    column<&Row::max_cached_connections>("max_cached_connections"),
    column<&Row::method>("method"),
    column<&Row::response_bytes>("response_bytes"),
    column<&Row::request_bytes>("request_bytes"),
    column<&Row::delay_ms>("delay_ms"),
    column<&Row::loss_percent>("loss_percent"),
    column<&Row::keepalive>("keepalive"),
    column<&Row::proxy_rss_peak_bytes>("proxy_rss_peak_bytes"),
    column<&Row::proxy_cpu_avg_pct>("proxy_cpu_avg_pct"),
    // ---- Ours.
    column<&Row::row_key>("row_key"),
    column<&Row::product>("product"),
    column<&Row::product_version>("product_version"),
    column<&Row::repeat>("repeat"),
    column<&Row::cpu_us_per_request>("cpu_us_per_request"),
    column<&Row::cpu_user_us_per_request>("cpu_user_us_per_request"),
    column<&Row::voluntary_ctx_per_request>("voluntary_ctx_per_request"),
    column<&Row::rate>("rate"),
    column<&Row::note>("note"),
});
static_assert(kColumns[kCommonColumns - 1].name == "proxy_cpu_avg_pct");

// Which column of ours each field of a record is; nullptr: one that we do not know.
using Layout = std::vector<const Column*>;

[[nodiscard]] std::expected<Layout, std::string> read_header(CsvReader& reader) {
  if (reader.next() != CsvReader::Status::record) {
    return std::unexpected("line 1: the header is missing");
  }
  Layout layout;
  for (const std::string& name : reader.fields()) {
    const auto* const known = std::ranges::find(kColumns, name, &Column::name);
    if (known != kColumns.end() && std::ranges::contains(layout, known)) {
      return std::unexpected(fmt::format("line 1: column {} is there twice", name));
    }
    layout.push_back(known == kColumns.end() ? nullptr : known);
  }
  for (std::size_t i = 0; i < kCommonColumns; ++i) {
    if (std::ranges::contains(layout, &kColumns[i])) continue;
    return std::unexpected(fmt::format("line 1: column {} is missing", kColumns[i].name));
  }
  return layout;
}

[[nodiscard]] std::expected<Row, std::string> read_row(const CsvReader& reader,
                                                       const Layout& layout) {
  const std::vector<std::string>& fields = reader.fields();
  if (fields.size() != layout.size()) {
    return std::unexpected(fmt::format("line {}: {} fields where the header has {}", reader.line(),
                                       fields.size(), layout.size()));
  }
  Row row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (layout[i] == nullptr || layout[i]->read(fields[i], row)) continue;
    return std::unexpected(fmt::format("line {}: column {}: '{}' is not a value of it",
                                       reader.line(), layout[i]->name, fields[i]));
  }
  return row;
}

// The damage is in the field that was begun last.
[[nodiscard]] std::string describe_damage(const CsvReader& reader, const Layout& layout) {
  const std::size_t at = reader.fields().size() - 1;
  const std::string_view name =
      at < layout.size() && layout[at] != nullptr ? layout[at]->name : "unknown";
  return fmt::format("line {}: column {}: {}", reader.line(), name, reader.problem());
}

void warn(std::string* warning, std::size_t line) {
  if (warning == nullptr) return;
  *warning = fmt::format("line {}: cut off, and left out; the run was interrupted", line);
}

}  // namespace

std::string_view csv_header() {
  static const std::string header = [] {
    std::string text;
    for (const Column& column : kColumns) {
      if (!text.empty()) text += ',';
      text += column.name;
    }
    return text;
  }();
  return header;
}

std::string to_csv(const Row& row) {
  std::string line;
  for (const Column& column : kColumns) {
    if (&column != kColumns.data()) line += ',';
    column.write(row, line);
  }
  return line;
}

std::expected<std::vector<Row>, std::string> read_csv(std::string_view text, std::string* warning) {
  CsvReader reader(text);
  const auto layout = read_header(reader);
  if (!layout) return std::unexpected(layout.error());
  std::vector<Row> rows;
  for (;;) {
    switch (reader.next()) {
      case CsvReader::Status::end:
        return rows;
      case CsvReader::Status::cut_off:
        warn(warning, reader.line());
        return rows;
      case CsvReader::Status::invalid:
        return std::unexpected(describe_damage(reader, *layout));
      case CsvReader::Status::record:
        break;
    }
    if (reader.fields().size() == 1 && reader.fields()[0].empty()) continue;  // A blank line.
    auto row = read_row(reader, *layout);
    if (row) {
      rows.push_back(*std::move(row));
    } else if (!reader.is_terminated()) {
      warn(warning, reader.line());
      return rows;
    } else {
      return std::unexpected(row.error());
    }
  }
}

}  // namespace titanium::probe
