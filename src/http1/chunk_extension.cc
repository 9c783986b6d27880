// SPDX-License-Identifier: MIT
#include "http1/chunk_extension.h"

#include "http/scan.h"

namespace titanium::http1 {
namespace {

void skip_blanks(std::string_view& text) {
  while (!text.empty() && http::is_blank(text.front())) text.remove_prefix(1);
}

bool take_byte(std::string_view& text, char byte) {
  if (!text.starts_with(byte)) return false;
  text.remove_prefix(1);
  return true;
}

bool take_token(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && http::is_token_byte(text[length])) ++length;
  text.remove_prefix(length);
  return length > 0;
}

// The rest of a quoted-string (RFC 9110 §5.6.4) whose opening quote is gone.
bool take_quoted_rest(std::string_view& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      text.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_chunk_extension(std::string_view text) noexcept {
  while (!text.empty()) {
    skip_blanks(text);
    if (!take_byte(text, ';')) return false;
    skip_blanks(text);
    if (!take_token(text)) return false;
    std::string_view behind = text;
    skip_blanks(behind);
    if (!take_byte(behind, '=')) continue;
    skip_blanks(behind);
    if (take_byte(behind, '"') ? !take_quoted_rest(behind) : !take_token(behind)) return false;
    text = behind;
  }
  return true;
}

}  // namespace titanium::http1
