// SPDX-License-Identifier: MIT
#include "http2/hpack/integer.h"

#include <gtest/gtest.h>

#include "support/every_cut.h"
#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::from_hex;
using test::to_hex;

struct IntegerCase {
  std::uint32_t value;
  unsigned prefix_bits;
  std::uint8_t pattern;
  std::string_view hex;
};

constexpr IntegerCase kIntegers[] = {
    {10, 5, 0x00, "0a"},        // RFC 7541 §C.1.1
    {1337, 5, 0x00, "1f9a0a"},  // RFC 7541 §C.1.2
    {42, 8, 0x00, "2a"},        // RFC 7541 §C.1.3
    {0, 7, 0x80, "80"},
    {30, 5, 0xe0, "fe"},
    {31, 5, 0xe0, "ff00"},
    {31 + 127, 5, 0x20, "3f7f"},
    {31 + 128, 5, 0x20, "3f8001"},
    {126, 7, 0x80, "fe"},
    {127, 7, 0x80, "ff00"},
    {0xffff'ffff, 7, 0x80, "ff80ffffff0f"},
    {0xffff'ffff, 4, 0x10, "1ff0ffffff0f"},
};

TEST(HpackInteger, IsWrittenAndReadAsInTheExamples) {
  for (const IntegerCase& c : kIntegers) {
    SCOPED_TRACE(c.hex);
    std::string out = "x";
    put_integer(out, c.pattern, c.prefix_bits, c.value);
    EXPECT_EQ(to_hex(out.substr(1)), c.hex);
    const std::string bytes = from_hex(c.hex) + "rest";
    std::string_view rest = bytes;
    EXPECT_EQ(take_integer(rest, c.prefix_bits), c.value);
    EXPECT_EQ(rest, "rest");
  }
}

TEST(HpackInteger, IsRefusedWhenCutShort) {
  for (const IntegerCase& c : kIntegers) {
    const std::string bytes = from_hex(c.hex);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const test::ExactCopy cut(std::string_view(bytes).substr(0, size));
      std::string_view rest = cut.view();
      EXPECT_EQ(take_integer(rest, c.prefix_bits), std::nullopt) << c.hex << " cut at " << size;
    }
  }
}

TEST(HpackInteger, IsRefusedBeyond32BitsAndWithEndlessZeros) {
  for (const std::string_view hex : {
           "ff81ffffff0f",          // 2^32
           "ff80ffffff1f",          // A bit too many in the fifth byte of continuation.
           "ff80ffffff8f00",        // A sixth one, although it is zero.
           "ff808080808000",        // 127, written in too many bytes.
           "ffffffffffffffffffff",  //
           "ff80808080808080808080808080808080808080",
       }) {
    const std::string bytes = from_hex(hex);
    std::string_view rest = bytes;
    EXPECT_EQ(take_integer(rest, 7), std::nullopt) << hex;
  }
  const std::string padded = from_hex("ff8080808000");  // Not the shortest form, but allowed.
  std::string_view rest = padded;
  EXPECT_EQ(take_integer(rest, 7), 127U);
}

}  // namespace
}  // namespace titanium::http2
