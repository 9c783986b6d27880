// SPDX-License-Identifier: MIT
//
// Integers of HPACK (RFC 7541 §5.1): what does not fit the rest of a byte continues in the next
// ones, seven bits each, the lowest first.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace titanium::http2 {

// Appends `value`, whose first byte begins with the bits of `pattern`.
inline void put_integer(std::string& out, std::uint8_t pattern, unsigned prefix_bits,
                        std::uint32_t value) {
  const std::uint32_t full = (1U << prefix_bits) - 1;
  if (value < full) return out.push_back(static_cast<char>(pattern | value));
  out.push_back(static_cast<char>(pattern | full));
  for (value -= full; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(0x80 | (value & 0x7f)));
  }
  out.push_back(static_cast<char>(value));
}

// Takes an integer off the front of `rest`; nullopt if it is cut short or beyond 32 bits. Five
// bytes of continuation are the most that this can take: more would be padding with zeros, which
// §5.1 leaves us to refuse.
[[nodiscard]] inline std::optional<std::uint32_t> take_integer(std::string_view& rest,
                                                               unsigned prefix_bits) noexcept {
  if (rest.empty()) return std::nullopt;
  const std::uint32_t full = (1U << prefix_bits) - 1;
  const std::uint32_t prefix = static_cast<unsigned char>(rest.front()) & full;
  rest.remove_prefix(1);
  if (prefix < full) return prefix;
  std::uint64_t value = full;
  for (unsigned shift = 0; shift <= 28 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value += std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) != 0) continue;
    if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }
  return std::nullopt;
}

}  // namespace titanium::http2
