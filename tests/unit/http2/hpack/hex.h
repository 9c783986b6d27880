// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace titanium::test {

// The bytes of "82 86 84" and of "8286 84"; blanks mean nothing.
inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  int half = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (half < 0) {
      half = digit;
    } else {
      bytes.push_back(static_cast<char>(half * 16 + digit));
      half = -1;
    }
  }
  return bytes;
}

inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

}  // namespace titanium::test
