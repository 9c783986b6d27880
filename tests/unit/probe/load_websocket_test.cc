// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "load/websocket.h"

namespace titanium::probe::websocket {
namespace {

using namespace std::string_view_literals;

// The samples of RFC 6455 §5.7.
TEST(WebSocketFrame, ReadsTheSamplesOfTheRfc) {
  struct Case {
    std::string_view bytes;
    FrameHeader header;
    std::size_t size;
  };
  const Case cases[] = {
      {"\x81\x05Hello"sv, {Opcode::text, true, {}, 5}, 2},
      {"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"sv,
       {Opcode::text, true, Mask{0x37, 0xfa, 0x21, 0x3d}, 5},
       6},
      {"\x01\x03Hel"sv, {Opcode::text, false, {}, 3}, 2},
      {"\x80\x02lo"sv, {Opcode::continuation, true, {}, 2}, 2},
      {"\x89\x05Hello"sv, {Opcode::ping, true, {}, 5}, 2},
      {"\x82\x7E\x01\x00"sv, {Opcode::binary, true, {}, 256}, 4},
      {"\x82\x7F\x00\x00\x00\x00\x00\x01\x00\x00"sv, {Opcode::binary, true, {}, 65536}, 10},
  };
  for (const Case& row : cases) {
    const auto parsed = parse_header(row.bytes, Side::client);
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->header, row.header);
    EXPECT_EQ((*parsed)->bytes, row.size);
    std::string written;
    append_header(written, row.header);
    EXPECT_EQ(written, row.bytes.substr(0, row.size));
    for (std::size_t cut = 0; cut < row.size; ++cut) {
      const auto part = parse_header(row.bytes.substr(0, cut), Side::client);
      EXPECT_TRUE(part && !*part) << cut;
    }
  }
}

TEST(WebSocketFrame, EveryLengthSurvives) {
  for (const std::uint64_t length : {0, 1, 125, 126, 127, 65535, 65536, 1 << 24}) {
    std::string bytes;
    append_header(bytes, {.mask = {}, .payload_bytes = length});
    const auto parsed = parse_header(bytes, Side::client);
    ASSERT_TRUE(parsed && *parsed) << length;
    EXPECT_EQ((*parsed)->header.payload_bytes, length);
    EXPECT_EQ((*parsed)->bytes, bytes.size());
    EXPECT_LE(bytes.size(), kMaxHeaderBytes);
  }
}

TEST(WebSocketFrame, RefusesWhatTheRfcForbids) {
  const std::string_view cases[] = {
      "\xc1\x00"sv,                                  // A reserved bit.
      "\x83\x00"sv,                                  // An unknown opcode.
      "\x8b\x00"sv,                                  // An unknown control opcode.
      "\x82\x7e\x00\x7d"sv,                          // 125 in two bytes.
      "\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff"sv,  // 65535 in eight.
      "\x09\x00"sv,                                  // A fragmented ping.
      "\x89\x7e\x00\x7e"sv,                          // A long one.
      "\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x01"sv,  // More than the limit.
      "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"sv,
  };
  for (const std::string_view bytes : cases) {
    const auto parsed = parse_header(bytes, Side::origin);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().side, Side::origin);
  }
}

TEST(WebSocketMask, UnmasksFromAnyOffset) {
  const Mask mask{0x37, 0xfa, 0x21, 0x3d};
  const std::string masked = "\x7f\x9f\x4d\x51\x58";
  for (std::size_t cut = 0; cut <= masked.size(); ++cut) {
    std::string text = masked;
    apply_mask(std::span(text).first(cut), mask, 0);
    apply_mask(std::span(text).subspan(cut), mask, cut);
    EXPECT_EQ(text, "Hello");
  }
}

TEST(WebSocketAccept, IsThatOfTheRfc) {  // RFC 6455 §1.3
  EXPECT_EQ(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

}  // namespace
}  // namespace titanium::probe::websocket
