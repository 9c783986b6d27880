// SPDX-License-Identifier: MIT
#include "results/csv_reader.h"

#include <algorithm>

namespace titanium::probe {

CsvReader::CsvReader(std::string_view text) : rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

CsvReader::Status CsvReader::fail(std::string_view problem) noexcept {
  problem_ = problem;
  return Status::invalid;
}

CsvReader::Status CsvReader::next() {
  fields_.clear();
  record_line_ = line_;
  terminated_ = false;
  if (rest_.empty()) return Status::end;
  for (;;) {
    std::string& field = fields_.emplace_back();
    if (rest_.starts_with('"')) {
      if (const Status status = read_quoted(field); status != Status::record) return status;
    } else {
      const std::string_view plain = rest_.substr(0, rest_.find_first_of(",\r\n"));
      if (plain.contains('"')) return fail("a quote within a field that does not begin with one");
      field = plain;
      rest_.remove_prefix(plain.size());
    }
    if (!take_separator()) return Status::record;
  }
}

CsvReader::Status CsvReader::read_quoted(std::string& field) {
  rest_.remove_prefix(1);
  for (;;) {
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      // A quote that swallows whole lines is damage, not the end of an interrupted run.
      if (rest_.contains('\n')) return fail("a quote that is never closed");
      return Status::cut_off;
    }
    field += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) break;
    field += '"';
    rest_.remove_prefix(1);
  }
  line_ += static_cast<std::size_t>(std::ranges::count(field, '\n'));
  if (rest_.empty() || std::string_view(",\r\n").contains(rest_.front())) return Status::record;
  return fail("text after a closing quote");
}

bool CsvReader::take_separator() {
  if (rest_.starts_with(',')) {
    rest_.remove_prefix(1);
    return true;
  }
  if (rest_.empty()) return false;
  // RFC 4180 §2 wants CRLF; a bare LF is what most programs write, ours too.
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
  terminated_ = true;
  return false;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace titanium::probe
