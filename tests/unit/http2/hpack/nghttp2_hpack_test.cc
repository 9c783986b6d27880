// SPDX-License-Identifier: MIT
//
// Both codecs against nghttp2's, over many blocks on one connection, while the size of the table
// changes.
#include "unit/http2/hpack/nghttp2_hpack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace titanium::http2 {
namespace {

using test::encode_lines;
using test::FieldLine;
using test::FieldLines;
using test::lines_of;

constexpr DecodeLimits kNoLimits{.list_bytes = 1 << 30, .fields = 1 << 30};

class RandomLines {
 public:
  explicit RandomLines(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  FieldLines lines() {
    FieldLines lines;
    const std::size_t count = below(12);
    for (std::size_t i = 0; i < count; ++i) lines.push_back(line());
    return lines;
  }

 private:
  FieldLine line() {
    constexpr std::string_view kNames[] = {
        ":method",
        ":path",
        ":status",
        ":authority",
        ":scheme",
        "accept",
        "cookie",
        "user-agent",
        "x-one",
        "x-two",
        "date",
        "etag",
        "authorization",
        "te",
        "",
        "x-very-long-name-of-a-field-that-has-more-than-a-few-words-in-it"};
    constexpr std::string_view kValues[] = {"",      "GET",      "200",
                                            "/",     "/a?b=c",   "gzip, deflate",
                                            "https", "trailers", "Mozilla/5.0 (X11; Linux x86_64)"};
    std::string name(kNames[below(std::size(kNames))]);
    if (below(8) == 0) name = "x-" + std::to_string(below(1000));
    std::string value(kValues[below(std::size(kValues))]);
    if (below(3) == 0) value = bytes(below(10) == 0 ? below(5000) : below(60));
    if (below(4) == 0) value = std::to_string(below(30));
    return {name, value, below(20) == 0};
  }

  std::string bytes(std::size_t size) {
    std::string bytes(size, '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(random_()); });
    return bytes;
  }

  std::minstd_rand random_;
};

void without_marks(FieldLines& lines) {
  for (FieldLine& line : lines) line.never_indexed = false;
}

TEST(HpackAgainstNghttp2, ItsInflaterReadsWhatOurEncoderWrites) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    RandomLines random(seed);
    HpackEncoder encoder(static_cast<std::uint32_t>(random.below(2) == 0 ? 4096 : 16'384));
    HpackDecoder own;
    test::Nghttp2Inflater inflater;
    for (int i = 0; i < 500; ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " block " << i);
      for (std::size_t changes = random.below(20); changes >= 18; --changes) {
        const auto bytes = static_cast<std::uint32_t>(random.below(20'000) * random.below(2));
        encoder.set_peer_table_bytes(bytes);
        inflater.table_bytes_acknowledged(bytes);
        own.table_bytes_acknowledged(bytes);
      }
      FieldLines lines = random.lines();
      const std::string block = encode_lines(encoder, lines);
      FieldBlock decoded;
      const auto outcome = own.decode(block, kNoLimits, Side::client, decoded);
      ASSERT_TRUE(outcome.has_value()) << outcome.error().what;
      const auto theirs = inflater.decode(block);
      ASSERT_TRUE(theirs.has_value());
      ASSERT_EQ(*theirs, lines_of(decoded));
      ASSERT_EQ(inflater.table_bytes(), encoder.table().bytes());
      ASSERT_EQ(own.table().bytes(), encoder.table().bytes());
      FieldLines unmarked = *theirs;
      without_marks(unmarked);
      without_marks(lines);
      ASSERT_EQ(unmarked, lines);
    }
  }
}

TEST(HpackAgainstNghttp2, OurDecoderReadsWhatItsDeflaterWrites) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    RandomLines random(seed);
    test::Nghttp2Deflater deflater(random.below(2) == 0 ? 4096 : 16'384);
    HpackDecoder decoder;
    test::Nghttp2Inflater inflater;
    for (int i = 0; i < 500; ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " block " << i);
      for (std::size_t changes = random.below(20); changes >= 18; --changes) {
        const auto bytes = static_cast<std::uint32_t>(random.below(20'000) * random.below(2));
        deflater.set_peer_table_bytes(bytes);
        inflater.table_bytes_acknowledged(bytes);
        decoder.table_bytes_acknowledged(bytes);
      }
      const FieldLines lines = random.lines();
      const std::string block = deflater.encode(lines);
      FieldBlock decoded;
      const auto outcome = decoder.decode(block, kNoLimits, Side::client, decoded);
      ASSERT_TRUE(outcome.has_value()) << outcome.error().what;
      const auto theirs = inflater.decode(block);
      ASSERT_TRUE(theirs.has_value());
      ASSERT_EQ(lines_of(decoded), *theirs);
      ASSERT_EQ(decoder.table().bytes(), inflater.table_bytes());
    }
  }
}

}  // namespace
}  // namespace titanium::http2
