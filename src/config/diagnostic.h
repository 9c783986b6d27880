// SPDX-License-Identifier: MIT
//
// What is wrong with a file, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace titanium::config {

// A place in a file; lines and columns count from 1, as editors do. 0: no place is known.
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

enum class Severity : std::uint8_t { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string file = {};
  Position position = {};    // Of the key, or of the item in a list.
  std::string path = {};     // "listeners[0].port", "server.timeouts"; may be empty.
  std::string message = {};  // What is wrong.
  std::string hint = {};     // What to do about it; may be empty.
  bool operator==(const Diagnostic&) const = default;
};

// "twp.yaml:12:5: error: listeners[0].port: 70000 is out of range (0 to 65535)", then "; " and the
// hint if there is one. One line, without the line feed.
[[nodiscard]] std::string format_diagnostic(const Diagnostic& diagnostic);

// The known word that a mistyped one most likely means: the same but for case, else the one at the
// smallest edit distance, 2 at most. Empty if there is none.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

// Text of the file for use in a message: in single quotes, cut if it is long, and with control
// bytes replaced, so that a file cannot write to somebody's terminal.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t max_bytes = 60);

}  // namespace titanium::config
