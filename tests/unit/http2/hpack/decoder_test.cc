// SPDX-License-Identifier: MIT
#include "http2/hpack/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/every_cut.h"
#include "unit/http2/hpack/decode_lines.h"
#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::decode_lines;
using test::FieldLines;
using test::from_hex;
using test::lines_of;

// In memory of exactly its size, which is gone afterwards.
Result<HpackDecoder::Outcome> decode(HpackDecoder& decoder, std::string_view bytes, FieldBlock& out,
                                     const DecodeLimits& limits = {}) {
  const test::ExactCopy block(bytes);
  return decoder.decode(block.view(), limits, Side::origin, out);
}

// What is wrong with the block, or "".
std::string_view refusal(HpackDecoder& decoder, std::string_view hex) {
  FieldBlock out;
  const auto outcome = decode(decoder, from_hex(hex), out);
  if (outcome) return "";
  EXPECT_EQ(outcome.error().code, Code::protocol);
  EXPECT_EQ(outcome.error().side, Side::origin);
  return outcome.error().what;
}

TEST(HpackDecoder, RefusesMalformedBlocks) {
  constexpr std::string_view kInteger = "HPACK: integer cut short or too large";
  constexpr std::string_view kIndex = "HPACK: no line has this index";
  constexpr std::string_view kString = "HPACK: string longer than its block";
  constexpr std::string_view kHuffman = "HPACK: malformed Huffman code";
  constexpr std::string_view kLate = "HPACK: table size update within a block";
  constexpr std::string_view kLarge = "HPACK: table size above the setting";
  struct Case {
    std::string_view hex;
    std::string_view what;
  };
  for (const auto& [hex, what] : {
           Case{"80", kIndex},                      // Index 0 (RFC 7541 §6.1).
           Case{"be", kIndex},                      // The dynamic table is empty.
           Case{"ff80ffffff0f", kIndex},            // The highest index there is.
           Case{"7e0161", kIndex},                  // As the name of a literal, of each kind.
           Case{"0f2f0161", kIndex},                //
           Case{"1f2f0161", kIndex},                //
           Case{"4001610162bf", kIndex},            // One line, but the second is meant.
           Case{"ff", kInteger},                    // No continuation.
           Case{"ff80", kInteger},                  //
           Case{"ff81ffffff0f", kInteger},          // 2^32
           Case{"ff808080808000", kInteger},        // Too many bytes.
           Case{"7f", kInteger},                    //
           Case{"0f", kInteger},                    //
           Case{"1f", kInteger},                    //
           Case{"3f", kInteger},                    //
           Case{"40", kInteger},                    // No name.
           Case{"4001", kString},                   // A name without bytes.
           Case{"4001 61", kInteger},               // No value.
           Case{"4001 61 7f", kInteger},            //
           Case{"4001 61 7f81ffffff0f", kInteger},  // A length beyond 32 bits.
           Case{"4001 61 7fffffffff07", kString},   // One just below.
           Case{"4001 61 0262", kString},           //
           Case{"41", kInteger},                    // An indexed name without value.
           Case{"4182f1", kString},                 //
           Case{"4181ff", kHuffman},                // Padding of eight bits.
           Case{"418118", kHuffman},                // Padding of zeros.
           Case{"4184ffffffff", kHuffman},          // EOS
           Case{"4081ff0162", kHuffman},            // The same in a name.
           Case{"8220", kLate},                     // After a line (§4.2).
           Case{"20 82 20", kLate},                 //
           Case{"40016101623f00", kLate},           //
           Case{"3fe21f", kLarge},                  // 4097
           Case{"20 3fe21f", kLarge},               //
           Case{"3f80ffffff0f", kLarge},            //
       }) {
    HpackDecoder decoder;
    EXPECT_EQ(refusal(decoder, hex), what) << hex;
  }
}

TEST(HpackDecoder, TakesOddButValidBlocks) {
  struct Case {
    std::string_view hex;
    FieldLines lines;
  };
  for (const auto& [hex, lines] : {
           Case{"", {}}, Case{"20", {}},
           Case{"20 3fe11f 82", {{":method", "GET"}}},  // 0, then 4096.
           Case{"20 20 20", {}},                        // More than needed.
           Case{"40 00 00", {{"", ""}}},                // Names are not judged here.
           Case{"00 80 80", {{"", ""}}},                // The same, as Huffman codes.
           Case{"00 0141 0162", {{"A", "b"}}},
           Case{"0f8080808000 0161", {{"accept-charset", "a"}}},  // Index 15, padded.
       }) {
    HpackDecoder decoder;
    EXPECT_EQ(decode_lines(decoder, from_hex(hex)), lines) << hex;
  }
}

// Blocks of all kinds of instructions, whole and cut anywhere.
TEST(HpackDecoder, RefusesWhatIsCutWithinAnInstruction) {
  const std::string block = from_hex(
      "3fe11f"                                            // Size update.
      "82"                                                // Static line.
      "418cf1e3c2e5f23a6ba0ab90f4ff"                      // Literal with a static name, Huffman.
      "400a637573746f6d2d6b65790d637573746f6d2d68656164"  // Literal with a new name.
      "6572"
      "be"                                    // Dynamic line.
      "0f3003612062"                          // Literal with a dynamic name, not indexed.
      "100870617373776f726406736563726574");  // Never indexed.
  const std::size_t ends[] = {0, 3, 4, 18, 44, 45, 51, 68};
  ASSERT_EQ(block.size(), 68U);
  for (std::size_t size = 0; size <= block.size(); ++size) {
    HpackDecoder decoder;
    FieldBlock out;
    const bool whole = std::ranges::find(ends, size) != std::end(ends);
    EXPECT_EQ(decode(decoder, std::string_view(block).substr(0, size), out).has_value(), whole)
        << "cut at " << size;
  }
}

TEST(HpackDecoder, KnowsTheFieldsThatTheProxyActsOn) {
  HpackDecoder decoder;
  FieldBlock out;
  // content-length by index of the name, "te" and "Via" as texts, then te from the table.
  ASSERT_TRUE(decode(decoder, from_hex("5c0131 40027465017a 0003566961 0178 be"), out));
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out.entries()[0].known, http::KnownField::content_length);
  EXPECT_EQ(out.entries()[1].known, http::KnownField::te);
  EXPECT_EQ(out.entries()[2].known, http::KnownField::via);
  EXPECT_EQ(out.entries()[3].known, http::KnownField::te);
}

TEST(HpackDecoder, TellsWhatMustNeverBeIndexed) {
  HpackDecoder decoder;
  EXPECT_EQ(decode_lines(decoder, from_hex("1f080161 0f080161 57 0161 be")),
            (FieldLines{{"authorization", "a", true},
                        {"authorization", "a"},
                        {"authorization", "a"},
                        {"authorization", "a"}}));
}

TEST(HpackDecoder, ForgetsTheBlockBefore) {
  HpackDecoder decoder;
  FieldBlock out;
  ASSERT_TRUE(decode(decoder, from_hex("8286"), out));
  EXPECT_EQ(out.list_bytes(), 7U + 3 + 32 + 7 + 4 + 32);
  ASSERT_TRUE(decode(decoder, from_hex("84"), out));
  EXPECT_EQ(lines_of(out), (FieldLines{{":path", "/"}}));
  EXPECT_EQ(out.list_bytes(), 5U + 1 + 32);
}

TEST(HpackDecoder, KeepsTheNameOfALineThatIsEvictedForAnotherOne) {
  // RFC 7541 §4.4. The table has room for one of the two lines.
  HpackDecoder decoder;
  EXPECT_EQ(decode_lines(decoder, from_hex("3f13 4004 6e616d65 0131 7e 0132 be")),
            (FieldLines{{"name", "1"}, {"name", "2"}, {"name", "2"}}));
  EXPECT_EQ(lines_of(decoder.table()), (FieldLines{{"name", "2"}}));
}

TEST(HpackDecoder, IsEmptiedByALineLargerThanTheTable) {
  HpackDecoder decoder;
  EXPECT_EQ(
      decode_lines(decoder, from_hex("3f0d 40016101 62 400761616161616161083131313131313131")),
      (FieldLines{{"a", "b"}, {"aaaaaaa", "11111111"}}));
  EXPECT_EQ(decoder.table().count(), 0U);
}

TEST(HpackDecoder, WantsATableSizeUpdateAfterALowerSetting) {
  constexpr std::string_view kMissing = "HPACK: no table size update after a lower setting";
  constexpr std::string_view kLarge = "HPACK: table size above the setting";
  for (const auto& [hex, what] : std::initializer_list<std::pair<const char*, std::string_view>>{
           {"82", kMissing},
           {"", kMissing},
           {"3fe11f", kLarge},         // 4096
           {"3f46", kLarge},           // 101
           {"3f45", ""},               // 100
           {"20 3f45 82", ""},         // 0, 100
           {"20 3fa901", ""},          // 0, then the 200 of the second setting.
           {"3f45 3fa901 82", ""},     // 100, then 200.
           {"3f45 3faa01 82", kLarge}  // 201
       }) {
    HpackDecoder decoder;
    FieldBlock out;
    ASSERT_TRUE(decode(decoder, from_hex("82"), out));
    decoder.table_bytes_acknowledged(100);
    decoder.table_bytes_acknowledged(200);
    EXPECT_EQ(refusal(decoder, hex), what) << hex;
  }
}

TEST(HpackDecoder, WantsNoUpdateIfThePeerUsesLessAnyway) {
  HpackDecoder decoder;
  EXPECT_EQ(refusal(decoder, "20"), "");
  decoder.table_bytes_acknowledged(100);
  EXPECT_EQ(refusal(decoder, "82"), "");
  EXPECT_EQ(refusal(decoder, "3f46"), "HPACK: table size above the setting");
}

TEST(HpackDecoder, AllowsALargerTableAtOnceAndASmallerOneWhenThePeerKnows) {
  HpackDecoder large(8192);
  EXPECT_EQ(large.table().max_bytes(), 4096U);
  EXPECT_EQ(refusal(large, "3fe13f"), "");  // 8192
  EXPECT_EQ(large.table().max_bytes(), 8192U);
  EXPECT_EQ(refusal(large, "3fe23f"), "HPACK: table size above the setting");

  HpackDecoder none(0);
  EXPECT_EQ(refusal(none, "4001610162"), "");
  EXPECT_EQ(refusal(none, "be"), "");
  none.table_bytes_acknowledged(0);
  EXPECT_EQ(refusal(none, "20"), "");
  EXPECT_EQ(refusal(none, "be"), "HPACK: no line has this index");
}

TEST(HpackDecoder, CountsFieldsButNotPseudoFields) {
  HpackDecoder decoder;
  FieldBlock out;
  const DecodeLimits limits{.list_bytes = 1000, .fields = 2};
  auto outcome = decode(decoder, from_hex("828684 410161 90 90"), out, limits);  // Two.
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->over_limit);
  outcome = decode(decoder, from_hex("8286 90 90 90 84"), out, limits);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->over_limit);
  EXPECT_EQ(out.size(), 4U);
  // A name that is empty is none of a pseudo-field, whatever its value begins with.
  outcome = decode(decoder, from_hex("4000013a be be"), out, limits);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->over_limit);
}

TEST(HpackDecoder, CountsTheListAsRfc9113Says) {
  for (const auto& [bytes, over] : {std::pair{2U * 42, false}, std::pair{2U * 42 - 1, true}}) {
    HpackDecoder decoder;
    FieldBlock out;
    const auto outcome =
        decode(decoder, from_hex("82 82"), out, {.list_bytes = bytes, .fields = 100});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->over_limit, over);
    EXPECT_EQ(out.size(), over ? 1U : 2U);
  }
}

TEST(HpackDecoder, FollowsTheTableBeyondTheLimits) {
  HpackDecoder decoder;
  FieldBlock out;
  const auto outcome = decode(decoder,
                              from_hex("82 400161 0131"  // a: 1
                                       "4081 1f 0132"    // a: 2, name as Huffman code
                                       "7e 0133"         // a: 3, name from the table
                                       "0f0f 0134 10 0162 00"),
                              out, {.list_bytes = 50, .fields = 100});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->over_limit);
  EXPECT_EQ(lines_of(out), (FieldLines{{":method", "GET"}}));
  EXPECT_EQ(lines_of(decoder.table()), (FieldLines{{"a", "3"}, {"a", "2"}, {"a", "1"}}));
  EXPECT_EQ(decode_lines(decoder, from_hex("be")), (FieldLines{{"a", "3"}}));
}

TEST(HpackDecoder, RefusesMalformedBlocksAlsoBeyondTheLimits) {
  for (const char* hex : {"8282 80", "8282 400161 0262", "8282 4181ff"}) {
    HpackDecoder decoder;
    FieldBlock out;
    EXPECT_FALSE(decode(decoder, from_hex(hex), out, {.list_bytes = 50, .fields = 1})) << hex;
  }
}

TEST(HpackDecoder, BoundsWhatABlockExpandsTo) {
  // A line of 4000 bytes, and then its index: one byte each. 64 KiB would become 256 MiB.
  HpackDecoder decoder;
  std::string bomb = from_hex("4001617fa11e") + std::string(4000, 'x');
  ASSERT_EQ(bomb.size(), 6U + 4000);
  bomb.append(64 * 1024, '\xbe');
  FieldBlock out;
  const auto outcome = decode(decoder, bomb, out, {.list_bytes = 64 * 1024, .fields = 256});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->over_limit);
  EXPECT_EQ(out.size(), 16U);
  EXPECT_LE(out.list_bytes(), 64U * 1024);
  // The connection goes on.
  EXPECT_EQ(decode_lines(decoder, from_hex("82")), (FieldLines{{":method", "GET"}}));
}

}  // namespace
}  // namespace titanium::http2
