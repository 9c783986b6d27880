// SPDX-License-Identifier: MIT
//
// Byte classes of HTTP text and the one scan that is worth vector code: looking for control bytes.
// CR and LF are control bytes, so a single pass over a head both finds its lines and proves that
// nothing else is hidden in them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <bit>
#endif

namespace titanium::http {

namespace scan_detail {

template <typename Predicate>
consteval std::array<bool, 256> byte_class(Predicate predicate) {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) table[c] = predicate(static_cast<char>(c));
  return table;
}

consteval bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

consteval bool is_one_of(char c, const char* set) {
  for (; *set != '\0'; ++set) {
    if (*set == c) return true;
  }
  return false;
}

consteval bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

inline constexpr auto kTokenBytes =
    byte_class([](char c) consteval { return is_alnum(c) || is_one_of(c, "!#$%&'*+-.^_`|~"); });
inline constexpr auto kControlBytes = byte_class([](char c) consteval { return is_control(c); });

inline constexpr auto kHexValues = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (int i = 0; i < 10; ++i)
    table[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
    table[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}();

[[nodiscard]] constexpr std::size_t index(char c) noexcept { return static_cast<unsigned char>(c); }

}  // namespace scan_detail

// RFC 9110 §5.6.2.
[[nodiscard]] constexpr bool is_token_byte(char c) noexcept {
  return scan_detail::kTokenBytes[scan_detail::index(c)];
}
// Any control byte but HTAB. The bytes 0x80-0xff are obs-text, not control bytes (RFC 9110 §5.5).
[[nodiscard]] constexpr bool is_control_byte(char c) noexcept {
  return scan_detail::kControlBytes[scan_detail::index(c)];
}
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
// The value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  return scan_detail::kHexValues[scan_detail::index(c)];
}

// The first control byte (but HTAB) in [at, end), or `end`. Eight bytes a step on any machine.
[[nodiscard]] inline const char* find_control_portable(const char* at, const char* end) noexcept {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr std::uint64_t kHighs = 0x8080'8080'8080'8080;
  for (; end - at >= 8; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    // Top bit of each byte below 0x20, and of each byte that is DEL. A borrow may flag a clean byte
    // behind a flagged one, and HTAB is flagged too: the loop below looks at each of them.
    const std::uint64_t below = (word - kOnes * 0x20) & ~word & kHighs;
    const std::uint64_t del = word ^ (kOnes * 0x7f);
    if ((below | ((del - kOnes) & ~del & kHighs)) == 0) continue;
    for (int i = 0; i < 8; ++i) {
      if (is_control_byte(at[i])) return at + i;
    }
  }
  while (at != end && !is_control_byte(*at)) ++at;
  return at;
}

// The first byte in [at, end) that is not a token byte, or `end`.
[[nodiscard]] inline const char* find_token_end_portable(const char* at, const char* end) noexcept {
  while (at != end && is_token_byte(*at)) ++at;
  return at;
}

#if defined(__SSE2__)
// The same for letters, digits and "-", of which names are made, sixteen bytes a step; whatever
// else comes is looked at byte by byte.
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
  // Unsigned `value` <= `most`, which SSE2 has no instruction for.
  const auto at_most = [](__m128i value, char most) {
    return _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(most)), value);
  };
  for (; end - at >= 16; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i lower = _mm_or_si128(block, _mm_set1_epi8(0x20));
    const __m128i letters = at_most(_mm_sub_epi8(lower, _mm_set1_epi8('a')), 25);
    const __m128i digits = at_most(_mm_sub_epi8(block, _mm_set1_epi8('0')), 9);
    const __m128i dashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('-'));
    const __m128i good = _mm_or_si128(_mm_or_si128(letters, digits), dashes);
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(good)) ^ 0xffffU;
    if (mask == 0) continue;
    at += std::countr_zero(mask);
    if (!is_token_byte(*at)) return at;
    break;
  }
  return find_token_end_portable(at, end);
}

// As find_control_portable(), sixteen bytes a step. SSE2 is part of every x86-64 machine, so
// nothing is dispatched.
[[nodiscard]] inline const char* find_control(const char* at, const char* end) noexcept {
  const __m128i last_control = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; end - at >= 16; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i below = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
    const __m128i bad = _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(block, tab), below),
                                     _mm_cmpeq_epi8(block, del));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(bad));
    if (mask != 0) return at + std::countr_zero(mask);
  }
  return find_control_portable(at, end);
}
#else
[[nodiscard]] inline const char* find_control(const char* at, const char* end) noexcept {
  return find_control_portable(at, end);
}
[[nodiscard]] inline const char* find_token_end(const char* at, const char* end) noexcept {
  return find_token_end_portable(at, end);
}
#endif

}  // namespace titanium::http
