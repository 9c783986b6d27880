// SPDX-License-Identifier: MIT
//
// Comma-separated text as of RFC 4180: fields in quotes may hold commas, line ends and doubled
// quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titanium::probe {

class CsvReader {
 public:
  enum class Status : std::uint8_t {
    record,
    end,      // No more records.
    cut_off,  // The text ends within a quoted field of its last line.
    invalid,  // Something that RFC 4180 does not allow; problem() says what.
  };

  // A byte order mark at the begin is skipped. The text outlives the reader.
  explicit CsvReader(std::string_view text);

  // Reads the next record into fields().
  [[nodiscard]] Status next();

  // Of the record read last. Valid until next().
  [[nodiscard]] const std::vector<std::string>& fields() const noexcept { return fields_; }
  // Line, from 1, at which that record began.
  [[nodiscard]] std::size_t line() const noexcept { return record_line_; }
  // Whether the record was ended by a line end, and not by the end of the text.
  [[nodiscard]] bool is_terminated() const noexcept { return terminated_; }
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

 private:
  [[nodiscard]] Status read_quoted(std::string& field);
  [[nodiscard]] Status fail(std::string_view problem) noexcept;
  // Takes a comma or a line end. False: the record is over.
  [[nodiscard]] bool take_separator();

  std::string_view rest_;
  std::vector<std::string> fields_;
  std::size_t line_ = 1;
  std::size_t record_line_ = 0;
  bool terminated_ = false;
  std::string_view problem_;
};

// `text` as a field: in quotes if it needs them.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace titanium::probe
