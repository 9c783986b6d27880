// SPDX-License-Identifier: MIT
#include "route/query.h"

#include <cstddef>
#include <optional>

namespace titanium::route {
namespace {

std::optional<unsigned> hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Decodes while comparing, so that there is nothing to store. A percent sign that is not followed
// by two hex digits stands for itself.
bool decoded_equals(std::string_view encoded, std::string_view plain) noexcept {
  std::size_t at = 0;
  for (const char wanted : plain) {
    if (at == encoded.size()) return false;
    char c = encoded[at++];
    if (c == '+') {
      c = ' ';
    } else if (c == '%' && encoded.size() - at >= 2) {
      const auto high = hex_digit(encoded[at]);
      const auto low = hex_digit(encoded[at + 1]);
      if (high && low) {
        c = static_cast<char>(*high * 16 + *low);
        at += 2;
      }
    }
    if (c != wanted) return false;
  }
  return at == encoded.size();
}

}  // namespace

bool query_has(std::string_view query, std::string_view name, std::string_view value) noexcept {
  while (!query.empty()) {
    const auto end = query.find('&');
    const std::string_view parameter = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    const auto equals = parameter.find('=');
    const std::string_view raw_value =
        equals == std::string_view::npos ? std::string_view{} : parameter.substr(equals + 1);
    if (decoded_equals(parameter.substr(0, equals), name) && decoded_equals(raw_value, value)) {
      return true;
    }
  }
  return false;
}

}  // namespace titanium::route
