// SPDX-License-Identifier: MIT
//
// What look-ups do to names and values, which are a few words long: hash, compare, look for
// capitals. All of it by words, the last of which overlap those before them, so that nothing is
// read byte by byte. The hash is computable at compile time for static tables. It is not keyed:
// use it where what it finds is bounded by the size of a table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.h"

namespace titanium {

namespace text_detail {

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

// Spreads each bit of two words over a whole one.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a ^ 0x9e37'79b9'7f4a'7c15} * (b ^ 0xd6e8'feb8'6659'fd93);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Eight letters at once: bit 0x20 of each that is A to Z. Each byte is compared by adding what
// makes it overflow into its upper bit; bytes beyond ASCII are taken out by theirs.
[[nodiscard]] constexpr std::uint64_t upper_case_bits(std::uint64_t word) noexcept {
  constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
  const std::uint64_t low = word & (0x7f * kEach);
  const std::uint64_t at_least_a = low + (0x80 - 'A') * kEach;
  const std::uint64_t beyond_z = low + (0x7f - 'Z') * kEach;
  return ((at_least_a & ~beyond_z & ~word) & (0x80 * kEach)) >> 2;
}

[[nodiscard]] constexpr std::uint64_t lower_case(std::uint64_t word) noexcept {
  return word | upper_case_bits(word);
}

}  // namespace text_detail

[[nodiscard]] constexpr std::uint32_t hash_text(std::string_view text,
                                                std::uint32_t seed = 0) noexcept {
  using text_detail::load;
  using text_detail::mix;
  const std::size_t size = text.size();
  const char* const begin = text.data();
  // Spread, so that a size that differs cannot make up for a byte that does.
  std::uint64_t state = ((std::uint64_t{seed} << 32) ^ size) * 0xa076'1d64'78bd'642f;
  if (size > 16) {
    for (std::size_t at = 0; at + 16 < size; at += 16) {
      state = mix(load<8>(begin + at), load<8>(begin + at + 8) ^ state);
    }
    state = mix(load<8>(begin + size - 16), load<8>(begin + size - 8) ^ state);
  } else if (size >= 8) {
    state = mix(load<8>(begin), load<8>(begin + size - 8) ^ state);
  } else if (size >= 4) {
    state = mix(load<4>(begin) | load<4>(begin + size - 4) << 32, state);
  } else if (size > 0) {
    const auto byte = [&](std::size_t at) -> std::uint64_t {
      return static_cast<unsigned char>(begin[at]);
    };
    state = mix(byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16, state);
  }
  return static_cast<std::uint32_t>(state >> 32);
}

// As `a == b`, without a call for texts of up to two words.
[[nodiscard]] inline bool same_text(std::string_view a, std::string_view b) noexcept {
  using text_detail::load;
  if (a.size() != b.size()) return false;
  const std::size_t size = a.size();
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  const auto differs_at = [&]<std::size_t Bytes>(std::size_t at) {
    return load<Bytes>(a.data() + at) ^ load<Bytes>(b.data() + at);
  };
  if (size >= 8) {
    return (differs_at.template operator()<8>(0) | differs_at.template operator()<8>(size - 8)) ==
           0;
  }
  if (size >= 4) {
    return (differs_at.template operator()<4>(0) | differs_at.template operator()<4>(size - 4)) ==
           0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// The same where `A` is as good as `a`.
[[nodiscard]] inline bool same_text_ignore_case(std::string_view a, std::string_view b) noexcept {
  using text_detail::load;
  using text_detail::lower_case;
  if (a.size() != b.size()) return false;
  const std::size_t size = a.size();
  const auto same_at = [&](std::size_t at) {
    return lower_case(load<8>(a.data() + at)) == lower_case(load<8>(b.data() + at));
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      if (!same_at(at)) return false;
    }
    return same_at(size - 8);
  }
  if (size >= 4) {
    const auto both_ends = [size](const char* text) {
      return lower_case(load<4>(text) | load<4>(text + size - 4) << 32);
    };
    return both_ends(a.data()) == both_ends(b.data());
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

[[nodiscard]] inline bool has_upper_case(std::string_view text) noexcept {
  using text_detail::load;
  using text_detail::upper_case_bits;
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    std::uint64_t found = upper_case_bits(load<8>(begin + size - 8));
    for (std::size_t at = 0; at + 8 < size; at += 8) found |= upper_case_bits(load<8>(begin + at));
    return found != 0;
  }
  if (size >= 4) return upper_case_bits(load<4>(begin) | load<4>(begin + size - 4) << 32) != 0;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') return true;
  }
  return false;
}

}  // namespace titanium
