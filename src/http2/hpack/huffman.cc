// SPDX-License-Identifier: MIT
//
// The code is canonical: codes of one length are consecutive numbers, in the order of the symbols,
// and shorter codes come first. So the lengths are all that has to be written down.
#include "http2/hpack/huffman.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace titanium::http2 {
namespace {

constexpr std::size_t kSymbols = 257;
constexpr std::uint16_t kEndOfString = 256;
constexpr unsigned kLongestCode = 30;

// RFC 7541 Appendix B: the bits of each symbol; the last one is EOS.
constexpr std::array<std::uint8_t, kSymbols> kCodeBits = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,  // 0x00
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,  // 0x10
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,   // 0x20
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,  // 0x30
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,   // 0x40
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,   // 0x50
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,   // 0x60
    6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,  // 0x70
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,  // 0x80
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  // 0x90
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,  // 0xa0
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,  // 0xb0
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,  // 0xc0
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,  // 0xd0
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,  // 0xe0
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,  // 0xf0
    30};

// Where the codes of each length lie among all codes and all symbols, when both are in order.
struct CodesOfLength {
  std::uint64_t end = 0;  // The first code beyond them, as the upper bits of a 32-bit number.
  std::uint32_t first = 0;
  std::uint16_t rank = 0;  // Of the symbol with the first code.
};

constexpr auto kLengths = [] {
  std::array<CodesOfLength, kLongestCode + 1> lengths{};
  std::uint32_t code = 0;
  std::uint16_t rank = 0;
  for (unsigned bits = 1; bits <= kLongestCode; ++bits) {
    code <<= 1;
    lengths[bits].first = code;
    lengths[bits].rank = rank;
    const auto count = static_cast<std::uint16_t>(std::ranges::count(kCodeBits, bits));
    code += count;
    rank = static_cast<std::uint16_t>(rank + count);
    lengths[bits].end = std::uint64_t{code} << (32 - bits);
  }
  return lengths;
}();
static_assert(kLengths[kLongestCode].end == std::uint64_t{1} << 32, "the code is complete");

constexpr auto kSymbolsByCode = [] {
  std::array<std::uint16_t, kSymbols> symbols{};
  for (std::uint16_t i = 0; i < kSymbols; ++i) symbols[i] = i;
  // By insertion: it keeps the order within a length, and std::stable_sort is not constexpr yet.
  for (std::size_t i = 1; i < kSymbols; ++i) {
    for (std::size_t j = i; j > 0 && kCodeBits[symbols[j]] < kCodeBits[symbols[j - 1]]; --j) {
      std::swap(symbols[j], symbols[j - 1]);
    }
  }
  return symbols;
}();
static_assert(kSymbolsByCode.back() == kEndOfString, "EOS is all ones, as padding is");

struct Code {
  std::uint32_t code = 0;
  std::uint32_t bits = 0;
};

constexpr auto kCodes = [] {
  std::array<Code, kSymbols> codes{};
  for (std::uint16_t rank = 0; rank < kSymbols; ++rank) {
    const std::uint16_t symbol = kSymbolsByCode[rank];
    const CodesOfLength& length = kLengths[kCodeBits[symbol]];
    codes[symbol] = {.code = length.first + (rank - length.rank), .bits = kCodeBits[symbol]};
  }
  return codes;
}();
static_assert(kCodes['0'].code == 0 && kCodes['a'].code == 0x3 && kCodes['z'].code == 0x7b &&
                  kCodes[0].code == 0x1ff8 && kCodes[kEndOfString].code == 0x3fff'ffff,
              "as in RFC 7541 Appendix B");

struct Decoded {
  std::uint16_t symbol = 0;
  std::uint16_t bits = 0;  // 0: the code is longer than the table looks.
};

// Letters, digits and most of what is between them have codes of up to ten bits.
constexpr unsigned kQuickBits = 10;
constexpr auto kQuick = [] {
  std::array<Decoded, 1U << kQuickBits> table{};
  for (std::uint16_t symbol = 0; symbol < kSymbols; ++symbol) {
    const Code code = kCodes[symbol];
    if (code.bits > kQuickBits) continue;
    const std::uint32_t same = 1U << (kQuickBits - code.bits);
    for (std::uint32_t i = 0; i < same; ++i) {
      table[code.code * same + i] = {.symbol = symbol,
                                     .bits = static_cast<std::uint16_t>(code.bits)};
    }
  }
  return table;
}();

// Not inlined, so that find_code() is.
[[gnu::noinline]] Decoded find_long_code(std::uint32_t window) noexcept {
  unsigned bits = kQuickBits + 1;
  while (window >= kLengths[bits].end) ++bits;  // Ends: the code is complete.
  const CodesOfLength& length = kLengths[bits];
  const std::uint32_t rank = length.rank + (window >> (32 - bits)) - length.first;
  return {.symbol = kSymbolsByCode[rank], .bits = static_cast<std::uint16_t>(bits)};
}

// The code that the 32 bits begin with: there is always one.
Decoded find_code(std::uint32_t window) noexcept {
  const Decoded quick = kQuick[window >> (32 - kQuickBits)];
  return quick.bits != 0 ? quick : find_long_code(window);
}

// The next bits of a text, at the upper end of a word.
class BitReader {
 public:
  explicit BitReader(std::string_view text) noexcept
      : next_(text.data()), end_(text.data() + text.size()) {}

  // At least 56 bits, or all that are left.
  void refill() noexcept {
    if (end_ - next_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, next_, sizeof word);
      if constexpr (std::endian::native == std::endian::little) word = std::byteswap(word);
      // Bits of a byte that is not counted yet may be there twice, being the same.
      word_ |= word >> bits_;
      next_ += (63 - bits_) / 8;
      bits_ |= 56;
      return;
    }
    for (; bits_ <= 56 && next_ != end_; bits_ += 8) {
      word_ |= std::uint64_t{static_cast<unsigned char>(*next_++)} << (56 - bits_);
    }
  }
  void consume(unsigned bits) noexcept {
    word_ <<= bits;
    bits_ -= bits;
  }
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }
  [[nodiscard]] bool all_read() const noexcept { return next_ == end_; }
  [[nodiscard]] std::uint32_t window() const noexcept {
    return static_cast<std::uint32_t>(word_ >> 32);
  }
  // The same, going on with ones where the text has ended (fewer than 32 bits are left).
  [[nodiscard]] std::uint32_t window_with_padding() const noexcept {
    return static_cast<std::uint32_t>((word_ | (~std::uint64_t{0} >> bits_)) >> 32);
  }

 private:
  const char* next_;
  const char* end_;
  std::uint64_t word_ = 0;
  unsigned bits_ = 0;  // Of word_ that count.
};

// What is left is shorter than a code: whether it is padding (§5.2).
bool is_padding(const BitReader& reader) noexcept {
  return reader.bits() < 8 && reader.window_with_padding() == ~std::uint32_t{0};
}

}  // namespace

std::size_t huffman_encoded_bytes(std::string_view text) noexcept {
  std::size_t bits = 0;
  for (const char c : text) bits += kCodeBits[static_cast<unsigned char>(c)];
  return (bits + 7) / 8;
}

void huffman_encode(std::string_view text, char* out) noexcept {
  std::uint64_t word = 0;  // Its lower `bits` are to be written.
  unsigned bits = 0;
  for (const char c : text) {
    const Code code = kCodes[static_cast<unsigned char>(c)];
    word = word << code.bits | code.code;
    bits += code.bits;
    if (bits < 32) continue;
    bits -= 32;
    auto full = static_cast<std::uint32_t>(word >> bits);
    if constexpr (std::endian::native == std::endian::little) full = std::byteswap(full);
    std::memcpy(out, &full, sizeof full);
    out += sizeof full;
  }
  const unsigned padding = (8 - bits % 8) % 8;
  word = word << padding | ((1U << padding) - 1);
  for (bits += padding; bits > 0;) {
    bits -= 8;
    *out++ = static_cast<char>(word >> bits);
  }
}

std::optional<std::size_t> huffman_decode(std::string_view encoded, char* out) noexcept {
  const char* const begin = out;
  BitReader reader(encoded);
  do {
    reader.refill();
    while (reader.bits() >= kLongestCode) {
      const Decoded code = find_code(reader.window());
      if (code.symbol == kEndOfString) return std::nullopt;
      *out++ = static_cast<char>(code.symbol);
      reader.consume(code.bits);
    }
  } while (!reader.all_read());

  while (reader.bits() > 0) {
    const Decoded code = find_code(reader.window_with_padding());
    if (code.bits > reader.bits()) {
      if (!is_padding(reader)) return std::nullopt;
      break;
    }
    *out++ = static_cast<char>(code.symbol);
    reader.consume(code.bits);
  }
  return static_cast<std::size_t>(out - begin);
}

}  // namespace titanium::http2
