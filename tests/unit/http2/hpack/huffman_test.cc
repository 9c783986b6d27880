// SPDX-License-Identifier: MIT
#include "http2/hpack/huffman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "support/every_cut.h"
#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::from_hex;
using test::to_hex;

std::string encode(std::string_view text) {
  std::string out(huffman_encoded_bytes(text), '\0');
  huffman_encode(text, out.data());
  return out;
}

// In memory of exactly the size that both sides may touch.
std::optional<std::string> decode(std::string_view encoded) {
  const test::ExactCopy input(encoded);
  const std::size_t most = huffman_most_decoded_bytes(encoded.size());
  const auto out = std::make_unique<char[]>(most);
  const auto bytes = huffman_decode(input.view(), out.get());
  if (!bytes) return std::nullopt;
  EXPECT_LE(*bytes, most);
  return std::string(out.get(), *bytes);
}

TEST(Huffman, CodesTheStringsOfTheExamplesBothWays) {
  struct Example {
    std::string_view text;
    std::string_view hex;
  };
  for (const auto& [text, hex] : {
           // RFC 7541 §C.4, §C.6
           Example{"www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"},
           Example{"no-cache", "a8eb10649cbf"},
           Example{"custom-key", "25a849e95ba97d7f"},
           Example{"custom-value", "25a849e95bb8e8b4bf"},
           Example{"302", "6402"},
           Example{"private", "aec3771a4b"},
           Example{"Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"},
           Example{"https://www.example.com", "9d29ad171863c78f0b97c8e9ae82ae43d3"},
           Example{"gzip", "9bd9ab"},
           Example{
               "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
               "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5"
               "b1063d5007"},
           Example{"", ""},
       }) {
    EXPECT_EQ(to_hex(encode(text)), hex);
    EXPECT_EQ(decode(from_hex(hex)), text);
  }
}

TEST(Huffman, CodesEachByteBetweenAnyOthers) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_EQ(decode(encode(text)), text) << first << ' ' << second;
    }
  }
}

TEST(Huffman, CodesRandomTextsOfAnyLength) {
  std::minstd_rand random(2);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string any(size, '\0');
    std::ranges::generate(any, [&] { return static_cast<char>(random()); });
    EXPECT_EQ(decode(encode(any)), any);
    std::string letters(size, '\0');
    std::ranges::generate(letters, [&] { return "aeiost012%-./3"[random() % 14]; });
    EXPECT_EQ(decode(encode(letters)), letters);
  }
}

TEST(Huffman, RefusesWrongPaddingAndEndOfString) {
  struct Case {
    std::string_view hex;
    std::string_view why;
  };
  for (const auto& [hex, why] : {
           Case{"18", "'a' and three zeros"},
           Case{"1e", "'a' and 110"},
           Case{"fffe", "padding that begins with ones"},
           Case{"ff", "eight ones"},
           Case{"1fff", "'a' and eleven ones"},
           Case{"f1e3c2e5f23a6ba0ab90f4ffff", "a byte of padding too many"},
           Case{"ffffffff", "EOS"},
           Case{"fffffffc", "EOS and two zeros"},
           Case{"fffffffffffffffffffffff0", "EOS, far from the end"},
           Case{"1fffffffff", "'a' and EOS"},
           Case{"fff8", "a code of which the rest is missing"},
           Case{"fffffff0", "a code of which two bits are missing"},
       }) {
    EXPECT_EQ(decode(from_hex(hex)), std::nullopt) << why;
  }
  EXPECT_EQ(decode(from_hex("1f")), "a");        // Three ones.
  EXPECT_EQ(decode(from_hex("f8")), "&");        // None needed.
  EXPECT_EQ(decode(from_hex("028a7f")), "0  ");  // Seven, the most there can be.
}

// Whatever decodes is exactly what encoding the result gives: no two codings of one text.
TEST(Huffman, AcceptsOneCodingOfEachTextOnly) {
  std::minstd_rand random(3);
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes(1 + random() % 6, '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(random()); });
    if (const auto text = decode(bytes)) {
      ++accepted;
      ASSERT_EQ(to_hex(encode(*text)), to_hex(bytes));
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Huffman, IsRefusedWhenCutWithinACode) {
  const std::string text = "\x01\xff{}~";
  const std::string whole = encode(text);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = decode(std::string_view(whole).substr(0, size));
    // A cut may leave a text that is whole; then it is the beginning of this one.
    EXPECT_TRUE(!part || (text.starts_with(*part) && part->size() < text.size()));
  }
}

}  // namespace
}  // namespace titanium::http2
