// SPDX-License-Identifier: MIT
#include "http2/hpack/encoder.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/http2/hpack/decode_lines.h"
#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::decode_lines;
using test::encode_lines;
using test::FieldLines;
using test::lines_of;
using test::to_hex;

std::string encode(HpackEncoder& encoder, std::string_view name, std::string_view value,
                   http::KnownField known = http::KnownField::other,
                   Indexing indexing = Indexing::automatic) {
  std::string out;
  encoder.begin_block(out);
  encoder.add(out, name, value, known, indexing);
  return out;
}

// The kind of the first instruction (RFC 7541 §6).
std::string_view kind_of(std::string_view block) {
  const auto first = static_cast<unsigned char>(block.front());
  if (first >= 0x80) return "indexed";
  if (first >= 0x40) return "added";
  if (first >= 0x20) return "size";
  return first >= 0x10 ? "never" : "not added";
}

TEST(HpackEncoder, UsesTheStaticTable) {
  for (const auto& [name, value, hex] : std::initializer_list<std::array<std::string_view, 3>>{
           {":method", "GET", "82"},
           {":scheme", "https", "87"},
           {":status", "200", "88"},
           {":status", "500", "8e"},
           {"accept-encoding", "gzip, deflate", "90"},
           {"content-length", "7", "0f0d0137"},
           {"date", "", "0f1200"},
           {"www-authenticate", "", "7d00"}}) {
    HpackEncoder encoder;
    EXPECT_EQ(to_hex(encode(encoder, name, value)), hex) << name;
  }
}

TEST(HpackEncoder, WritesNamesInLowerCase) {
  for (const std::string_view name : {"X-Forwarded-Proto", "CONTENT-TYPE", "x", "X", "ETag",
                                      "@[`{-Z", "A\xc3\x84\xffZ-0123456789-Aa"}) {
    HpackEncoder encoder;
    HpackDecoder decoder;
    std::string lower(name);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    }
    const FieldLines expected = {{lower, "Value"}};
    EXPECT_EQ(decode_lines(decoder, encode(encoder, name, "Value")), expected);
    EXPECT_EQ(decode_lines(decoder, encode(encoder, lower, "Value")), expected);
  }
}

TEST(HpackEncoder, TakesTheNameOfAKnownFieldAsItIsKnown) {
  using enum http::KnownField;
  for (const auto known : {content_length, date, host, server, via, expect, te, forwarded,
                           x_forwarded_for, proxy_authenticate, keep_alive}) {
    const std::string_view name = http::canonical_name(known);
    HpackEncoder with;
    HpackEncoder without;
    EXPECT_EQ(to_hex(encode(with, name, "1", known)), to_hex(encode(without, name, "1"))) << name;
  }
}

TEST(HpackEncoder, AddsWhatIsLikelyToComeAgain) {
  for (const auto& [name, value, kind] : std::initializer_list<std::array<std::string_view, 3>>{
           {":authority", "example.com", "added"},
           {":path", "/style.css", "added"},
           {":path", "/search?q=a", "not added"},
           {":status", "418", "added"},
           {"user-agent", "curl", "added"},
           {"x-any", "value", "added"},
           {"content-type", "text/html", "added"},
           {"content-length", "123", "not added"},
           {"date", "Mon, 21 Oct 2013 20:13:21 GMT", "not added"},
           {"etag", "\"a\"", "not added"},
           {"if-none-match", "\"a\"", "not added"},
           {"last-modified", "Mon, 21 Oct 2013 20:13:21 GMT", "not added"},
           {"set-cookie", "a=b", "not added"},
           {"location", "/there", "not added"},
           {"x-request-id", "1234", "not added"},
           {"traceparent", "00-1-1-1", "not added"},
           {"authorization", "Basic YTpi", "never"},
           {"Authorization", "Basic YTpi", "never"},
           {"proxy-authorization", "Basic YTpi", "never"},
           {"cookie", "session=12345678901", "never"},   // 19 bytes
           {"cookie", "session=123456789012", "added"},  // 20
           {"cookie", "", "never"}}) {
    HpackEncoder encoder;
    EXPECT_EQ(kind_of(encode(encoder, name, value)), kind) << name << ": " << value;
    EXPECT_EQ(encoder.table().count(), kind == "added" ? 1U : 0U);
    const std::string_view again = kind == "added" ? "indexed" : kind;
    EXPECT_EQ(kind_of(encode(encoder, name, value)), again) << name << ": " << value;
  }
}

TEST(HpackEncoder, NeverIndexesWhatItIsToldNotTo) {
  HpackEncoder encoder;
  EXPECT_EQ(kind_of(encode(encoder, "x-key", "secret")), "added");
  const std::string never =
      encode(encoder, "x-key", "secret", http::KnownField::other, Indexing::never);
  EXPECT_EQ(kind_of(never), "never");
  HpackDecoder decoder;
  EXPECT_EQ(decode_lines(decoder, encode(encoder, ":method", "GET", {}, Indexing::never)),
            (FieldLines{{":method", "GET", true}}));
  EXPECT_EQ(encoder.table().count(), 1U);
}

TEST(HpackEncoder, ReusesANameOfTheDynamicTable) {
  HpackEncoder encoder;
  EXPECT_EQ(kind_of(encode(encoder, "x-any", "1")), "added");
  EXPECT_EQ(to_hex(encode(encoder, "x-any", "2")), "7e0132");
  EXPECT_EQ(to_hex(encode(encoder, "x-any", "2")), "be");
  EXPECT_EQ(to_hex(encode(encoder, "x-any", "1")), "bf");
}

TEST(HpackEncoder, UsesHuffmanOnlyWhereItIsShorter) {
  HpackEncoder encoder;
  EXPECT_EQ(to_hex(encode(encoder, "etag", "aaa")),
            "0f1382"
            "18c7");
  EXPECT_EQ(to_hex(encode(encoder, "etag", "a")),
            "0f13"
            "01"
            "61");  // One byte either way.
  EXPECT_EQ(to_hex(encode(encoder, "etag", "\x01\x02")),
            "0f13"
            "02"
            "0102");
  EXPECT_EQ(to_hex(encode(encoder, "etag", "")), "0f1300");
}

TEST(HpackEncoder, LeavesOutOfTheTableWhatWouldFillHalfOfIt) {
  HpackEncoder encoder;
  const std::string half(2048 - 32 - 1, 'v');
  EXPECT_EQ(kind_of(encode(encoder, "n", half + "v")), "not added");
  EXPECT_EQ(kind_of(encode(encoder, "n", half)), "added");
}

TEST(HpackEncoder, SaysSoWhenItUsesLessThanThePeerAllows) {
  HpackEncoder encoder(100);
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")),
            "3f45"
            "82");
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")), "82");
  encoder.set_peer_table_bytes(200);  // No reason to use more.
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")), "82");
}

TEST(HpackEncoder, AnnouncesChangesOfThePeersTable) {
  HpackEncoder encoder;
  EXPECT_EQ(kind_of(encode(encoder, "x-any", "1")), "added");
  encoder.set_peer_table_bytes(4096);
  encoder.set_peer_table_bytes(65'536);
  EXPECT_EQ(to_hex(encode(encoder, "x-any", "1")), "be");

  encoder.set_peer_table_bytes(50);
  EXPECT_EQ(to_hex(encode(encoder, "x-any", "1")),
            "3f13"
            "be");
  EXPECT_EQ(encoder.table().max_bytes(), 50U);

  encoder.set_peer_table_bytes(0);
  encoder.set_peer_table_bytes(100);
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")),
            "20"
            "3f45"
            "82");
  EXPECT_EQ(encoder.table().count(), 0U);
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")), "82");

  encoder.set_peer_table_bytes(0);
  const std::string block = encode(encoder, "x-any", "1");
  EXPECT_EQ(to_hex(block.substr(0, 2)), "2000");  // Size 0, and then a literal that is not added.
  HpackDecoder decoder;
  EXPECT_EQ(decode_lines(decoder, block), (FieldLines{{"x-any", "1"}}));
  EXPECT_EQ(encoder.table().count(), 0U);
}

TEST(HpackEncoder, UsesALargerTableIfBothSidesWantIt) {
  HpackEncoder encoder(8192);
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")), "82");
  encoder.set_peer_table_bytes(8192);
  EXPECT_EQ(to_hex(encode(encoder, ":method", "GET")),
            "3fe13f"
            "82");
  EXPECT_EQ(encoder.table().max_bytes(), 8192U);
}

TEST(HpackEncoder, WritesAnEmptyBlockAsNothing) {
  HpackEncoder encoder;
  EXPECT_EQ(encode_lines(encoder, {}), "");
}

TEST(HpackEncoder, AppendsToWhatIsThere) {
  HpackEncoder encoder;
  std::string out = "head";
  encoder.begin_block(out);
  encoder.add(out, "x-any", "value");
  encoder.add(out, ":method", "GET");
  ASSERT_TRUE(out.starts_with("head"));
  HpackDecoder decoder;
  EXPECT_EQ(decode_lines(decoder, out.substr(4)),
            (FieldLines{{"x-any", "value"}, {":method", "GET"}}));
}

}  // namespace
}  // namespace titanium::http2
