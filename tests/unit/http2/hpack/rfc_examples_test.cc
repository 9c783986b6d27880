// SPDX-License-Identifier: MIT
//
// The examples of RFC 7541 Appendix C.
#include <gtest/gtest.h>

#include "unit/http2/hpack/decode_lines.h"
#include "unit/http2/hpack/hex.h"

namespace titanium::http2 {
namespace {

using test::decode_lines;
using test::encode_lines;
using test::FieldLines;
using test::from_hex;
using test::lines_of;
using test::to_hex;

struct Block {
  std::string_view hex;
  FieldLines lines;
  FieldLines table;  // After the block.
};

void expect_decoded(std::initializer_list<Block> blocks, std::uint32_t table_bytes = 4096) {
  HpackDecoder decoder;
  if (table_bytes < 4096) {
    FieldBlock none;
    decoder.table_bytes_acknowledged(table_bytes);
    ASSERT_TRUE(decoder.decode(from_hex("3fe101"), {}, Side::client, none).has_value());
  }
  for (const Block& block : blocks) {
    EXPECT_EQ(decode_lines(decoder, from_hex(block.hex)), block.lines) << block.hex;
    EXPECT_EQ(lines_of(decoder.table()), block.table) << block.hex;
  }
}

TEST(Rfc7541Examples, DecodesSingleLines) {
  // §C.2.1 to §C.2.4
  expect_decoded({{"400a637573746f6d2d6b65790d637573746f6d2d686561646572",
                   {{"custom-key", "custom-header"}},
                   {{"custom-key", "custom-header"}}}});
  expect_decoded({{"040c2f73616d706c652f70617468", {{":path", "/sample/path"}}, {}}});
  expect_decoded({{"100870617373776f726406736563726574", {{"password", "secret", true}}, {}}});
  expect_decoded({{"82", {{":method", "GET"}}, {}}});
}

const FieldLines kRequest1 = {
    {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "www.example.com"}};
const FieldLines kRequest2 = {{":method", "GET"},
                              {":scheme", "http"},
                              {":path", "/"},
                              {":authority", "www.example.com"},
                              {"cache-control", "no-cache"}};
const FieldLines kRequest3 = {{":method", "GET"},
                              {":scheme", "https"},
                              {":path", "/index.html"},
                              {":authority", "www.example.com"},
                              {"custom-key", "custom-value"}};
const FieldLines kRequestTable1 = {{":authority", "www.example.com"}};
const FieldLines kRequestTable2 = {{"cache-control", "no-cache"},
                                   {":authority", "www.example.com"}};
const FieldLines kRequestTable3 = {{"custom-key", "custom-value"},
                                   {"cache-control", "no-cache"},
                                   {":authority", "www.example.com"}};

TEST(Rfc7541Examples, DecodesRequests) {
  // §C.3
  expect_decoded(
      {{"828684410f7777772e6578616d706c652e636f6d", kRequest1, kRequestTable1},
       {"828684be58086e6f2d6361636865", kRequest2, kRequestTable2},
       {"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565", kRequest3, kRequestTable3}});
  // §C.4
  expect_decoded({{"828684418cf1e3c2e5f23a6ba0ab90f4ff", kRequest1, kRequestTable1},
                  {"828684be5886a8eb10649cbf", kRequest2, kRequestTable2},
                  {"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf", kRequest3, kRequestTable3}});
}

TEST(Rfc7541Examples, EncodesRequests) {
  // §C.4: the choices of the example are ours.
  HpackEncoder encoder;
  EXPECT_EQ(to_hex(encode_lines(encoder, kRequest1)), "828684418cf1e3c2e5f23a6ba0ab90f4ff");
  EXPECT_EQ(lines_of(encoder.table()), kRequestTable1);
  EXPECT_EQ(to_hex(encode_lines(encoder, kRequest2)), "828684be5886a8eb10649cbf");
  EXPECT_EQ(lines_of(encoder.table()), kRequestTable2);
  EXPECT_EQ(to_hex(encode_lines(encoder, kRequest3)),
            "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf");
  EXPECT_EQ(lines_of(encoder.table()), kRequestTable3);
}

constexpr std::string_view kCookie = "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
const FieldLines kResponse1 = {{":status", "302"},
                               {"cache-control", "private"},
                               {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                               {"location", "https://www.example.com"}};
const FieldLines kResponse2 = {{":status", "307"},
                               {"cache-control", "private"},
                               {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                               {"location", "https://www.example.com"}};
const FieldLines kResponse3 = {{":status", "200"},
                               {"cache-control", "private"},
                               {"date", "Mon, 21 Oct 2013 20:13:22 GMT"},
                               {"location", "https://www.example.com"},
                               {"content-encoding", "gzip"},
                               {"set-cookie", std::string(kCookie)}};
const FieldLines kResponseTable1 = {{"location", "https://www.example.com"},
                                    {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                                    {"cache-control", "private"},
                                    {":status", "302"}};
const FieldLines kResponseTable2 = {{":status", "307"},
                                    {"location", "https://www.example.com"},
                                    {"date", "Mon, 21 Oct 2013 20:13:21 GMT"},
                                    {"cache-control", "private"}};
const FieldLines kResponseTable3 = {{"set-cookie", std::string(kCookie)},
                                    {"content-encoding", "gzip"},
                                    {"date", "Mon, 21 Oct 2013 20:13:22 GMT"}};

TEST(Rfc7541Examples, DecodesResponsesWithEviction) {
  // §C.5, with a table of 256 bytes.
  expect_decoded({{"4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a"
                   "323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
                   kResponse1, kResponseTable1},
                  {"4803333037c1c0bf", kResponse2, kResponseTable2},
                  {"88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69"
                   "707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d6178"
                   "2d6167653d333630303b2076657273696f6e3d31",
                   kResponse3, kResponseTable3}},
                 256);
  // §C.6
  expect_decoded({{"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29"
                   "ad171863c78f0b97c8e9ae82ae43d3",
                   kResponse1, kResponseTable1},
                  {"4883640effc1c0bf", kResponse2, kResponseTable2},
                  {"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7"
                   "f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d50"
                   "07",
                   kResponse3, kResponseTable3}},
                 256);
}

TEST(Rfc7541Examples, EncodesResponsesSoThatTheyDecodeToThemselves) {
  // Other bytes than in §C.6: dates, locations and new cookies are not worth a place in our table.
  HpackEncoder encoder(256);
  HpackDecoder decoder;
  for (const FieldLines& lines : {kResponse1, kResponse2, kResponse3}) {
    EXPECT_EQ(decode_lines(decoder, encode_lines(encoder, lines)), lines);
    EXPECT_EQ(lines_of(decoder.table()), lines_of(encoder.table()));
  }
  EXPECT_EQ(decoder.table().max_bytes(), 256U);
}

}  // namespace
}  // namespace titanium::http2
