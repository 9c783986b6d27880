// SPDX-License-Identifier: MIT
//
// The hash of the encoder's look-ups. Quick for texts of a few words, and computable at compile
// time for the static table. Not keyed: what it finds is bounded by the size of a table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace titanium::http2 {

namespace hash_detail {

// Up to eight bytes as a number, the first one lowest.
template <std::size_t Bytes>
[[nodiscard]] constexpr std::uint64_t load(const char* text) noexcept {
  static_assert(Bytes == 4 || Bytes == 8);
  if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < Bytes; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    }
    return word;
  } else {
    std::uint64_t word = 0;
    std::memcpy(&word, text, Bytes);
    return word;
  }
}

// Spreads each bit of `word` over the whole of the state.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t word) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{state ^ word ^ 0x9e37'79b9'7f4a'7c15} * 0xd6e8'feb8'6659'fd93;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace hash_detail

// The last words overlap those before them, so that no text is read byte by byte.
[[nodiscard]] constexpr std::uint32_t hash_text(std::string_view text,
                                                std::uint32_t seed = 0) noexcept {
  using hash_detail::load;
  using hash_detail::mix;
  const std::size_t size = text.size();
  const char* const begin = text.data();
  std::uint64_t state = (std::uint64_t{seed} << 32) ^ size;
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) state = mix(state, load<8>(begin + at));
    state = mix(state, load<8>(begin + size - 8));
  } else if (size >= 4) {
    state = mix(state, load<4>(begin) | load<4>(begin + size - 4) << 32);
  } else if (size > 0) {
    const auto byte = [&](std::size_t at) -> std::uint64_t {
      return static_cast<unsigned char>(begin[at]);
    };
    state = mix(state, byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16);
  }
  state = mix(state, size);
  return static_cast<std::uint32_t>(state >> 32);
}

}  // namespace titanium::http2
