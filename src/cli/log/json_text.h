// SPDX-License-Identifier: MIT
//
// Text of unknown origin inside JSON strings (RFC 8259 §7). What a client sends ends up in logs
// that people read in terminals and programs read line by line, so nothing may break out of the
// string.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace titanium::cli {

using JsonScratch = std::array<char, 8>;

// Takes the next piece off the front of `text` (not empty), as it stands inside a JSON string:
// either a run of characters that need no escape (a view into `text`), or one escape sequence (a
// view into `scratch`), which may not be cut. Control characters, C1 ones and DEL included, become
// \u00XX; each byte that is not part of valid UTF-8 becomes \ufffd.
[[nodiscard]] std::string_view next_json_piece(std::string_view& text,
                                               JsonScratch& scratch) noexcept;

// Appends `text` as a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

// The longest beginning of valid UTF-8 `text` that has at most `bytes` bytes and cuts no character.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept;

}  // namespace titanium::cli
