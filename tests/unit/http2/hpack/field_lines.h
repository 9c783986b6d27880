// SPDX-License-Identifier: MIT
//
// Field lines in a form that tests can compare and print.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"

namespace titanium::test {

struct FieldLine {
  std::string name;
  std::string value;
  bool never_indexed = false;

  bool operator==(const FieldLine&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const FieldLine& line) {
    return out << line.name << ": " << line.value << (line.never_indexed ? " (never)" : "");
  }
};
using FieldLines = std::vector<FieldLine>;

inline FieldLines lines_of(const http2::FieldBlock& block) {
  FieldLines lines;
  for (const auto& entry : block.entries()) {
    lines.push_back(
        {std::string(block.name(entry)), std::string(block.value(entry)), entry.never_indexed});
  }
  return lines;
}

inline std::string encode_lines(http2::HpackEncoder& encoder, const FieldLines& lines) {
  std::string out;
  encoder.begin_block(out);
  for (const FieldLine& line : lines) {
    encoder.add(out, line.name, line.value, http::KnownField::other,
                line.never_indexed ? http2::Indexing::never : http2::Indexing::automatic);
  }
  return out;
}

// Newest first, as RFC 7541 Appendix C prints it.
inline FieldLines lines_of(const http2::DynamicTable& table) {
  FieldLines lines;
  for (std::uint32_t age = 0; age < table.count(); ++age) {
    lines.push_back({std::string(table.at(age).name()), std::string(table.at(age).value())});
  }
  return lines;
}

}  // namespace titanium::test
