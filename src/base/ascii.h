// SPDX-License-Identifier: MIT
//
// Letter case as protocols mean it: of ASCII only, whatever the locale says.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace titanium {

namespace ascii_detail {

inline constexpr auto kLowerCase = [] {
  std::array<char, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) {
    table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return table;
}();

}  // namespace ascii_detail

[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return ascii_detail::kLowerCase[static_cast<unsigned char>(c)];
}

[[nodiscard]] constexpr std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

}  // namespace titanium
