// SPDX-License-Identifier: MIT
#include "cli/log/json_text.h"

#include <cstddef>
#include <cstdint>

namespace titanium::cli {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

[[nodiscard]] std::uint8_t byte_at(std::string_view text, std::size_t index) noexcept {
  return static_cast<std::uint8_t>(text[index]);
}

[[nodiscard]] bool is_plain_ascii(std::uint8_t byte) noexcept {
  return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

// Bytes of the well-formed sequence at the front of `text` (Unicode table 3-7), or 0. The front
// byte is not ASCII. Overlong forms, surrogates and what lies beyond U+10FFFF are not well-formed.
[[nodiscard]] std::size_t utf8_sequence(std::string_view text) noexcept {
  const std::uint8_t lead = byte_at(text, 0);
  std::size_t length = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) second_min = 0xa0;
    if (lead == 0xed) second_max = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) second_min = 0x90;
    if (lead == 0xf4) second_max = 0x8f;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte_at(text, 1) < second_min || byte_at(text, 1) > second_max) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

// Two bytes that are one of the control characters U+0080 to U+009F.
[[nodiscard]] bool is_c1_control(std::string_view text) noexcept {
  return text.size() >= 2 && byte_at(text, 0) == 0xc2 && byte_at(text, 1) >= 0x80 &&
         byte_at(text, 1) < 0xa0;
}

[[nodiscard]] std::size_t plain_run(std::string_view text) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    if (is_plain_ascii(byte_at(text, end))) {
      ++end;
      continue;
    }
    if (byte_at(text, end) < 0x80) break;
    const std::string_view rest = text.substr(end);
    const std::size_t length = utf8_sequence(rest);
    if (length == 0 || is_c1_control(rest)) break;
    end += length;
  }
  return end;
}

[[nodiscard]] std::string_view unicode_escape(std::uint8_t code, JsonScratch& scratch) noexcept {
  scratch = {'\\', 'u', '0', '0', kHexDigits[code >> 4], kHexDigits[code & 0xf]};
  return {scratch.data(), 6};
}

}  // namespace

std::string_view next_json_piece(std::string_view& text, JsonScratch& scratch) noexcept {
  if (const std::size_t run = plain_run(text); run > 0) {
    const std::string_view piece = text.substr(0, run);
    text.remove_prefix(run);
    return piece;
  }
  const std::uint8_t byte = byte_at(text, 0);
  if (is_c1_control(text)) {
    const std::uint8_t code = byte_at(text, 1);
    text.remove_prefix(2);
    return unicode_escape(code, scratch);
  }
  text.remove_prefix(1);
  if (byte == '"' || byte == '\\') {
    scratch = {'\\', static_cast<char>(byte)};
    return {scratch.data(), 2};
  }
  return byte < 0x80 ? unicode_escape(byte, scratch) : std::string_view("\\ufffd");
}

void append_json_string(std::string& out, std::string_view text) {
  JsonScratch scratch;
  out += '"';
  while (!text.empty()) out += next_json_piece(text, scratch);
  out += '"';
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (byte_at(text, bytes) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace titanium::cli
