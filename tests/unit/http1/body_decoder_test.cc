// SPDX-License-Identifier: MIT
#include "http1/body_decoder.h"

#include <gtest/gtest.h>

#include "support/every_cut.h"
#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

using test::describe;
using titanium::test::ExactCopy;

struct Decoded {
  std::string body;
  std::string trailers;
  std::size_t consumed = 0;
  bool done = false;
  std::optional<Error> error;
};

// Feeds `parts` one after the other, as a session would: what was not consumed stays in front, and
// is somewhere else each time.
Decoded decode(MessageFraming framing, std::initializer_list<std::string_view> parts,
               BodyLimits limits = {}) {
  BodyDecoder decoder(Side::client, limits);
  decoder.start(framing);
  Decoded result;
  http::FieldList trailers;
  std::string pending;
  for (const std::string_view part : parts) {
    pending.append(part);
    for (;;) {
      const ExactCopy input(pending);
      const auto step = decoder.next(input.view(), trailers);
      if (!step) {
        result.error = step.error();
        return result;
      }
      const std::size_t used = step->overhead + step->data;
      EXPECT_LE(used, pending.size());
      result.body += pending.substr(step->overhead, step->data);
      result.consumed += used;
      pending.erase(0, used);
      if (step->done) {
        EXPECT_TRUE(decoder.done());
        if (!result.done) result.trailers = describe(trailers);
        result.done = true;
        break;
      }
      if (used == 0) break;
    }
  }
  return result;
}

constexpr MessageFraming kChunked{.framing = Framing::chunked};

TEST(BodyDecoder, TakesExactlyTheBytesOfALength) {
  titanium::test::for_each_cut("helloGET /", [](std::string_view first, std::string_view second) {
    const Decoded result = decode({.framing = Framing::fixed, .bytes = 5}, {first, second});
    EXPECT_EQ(result.body, "hello");
    EXPECT_EQ(result.consumed, 5u);
    EXPECT_TRUE(result.done);
  });
}

TEST(BodyDecoder, IsDoneAtOnceWithoutABody) {
  for (const MessageFraming framing :
       {MessageFraming{}, MessageFraming{.framing = Framing::fixed, .bytes = 0}}) {
    BodyDecoder decoder(Side::client);
    decoder.start(framing);
    EXPECT_TRUE(decoder.done());
    EXPECT_EQ(decode(framing, {"GET /"}).consumed, 0u);
  }
}

TEST(BodyDecoder, TakesEverythingUntilTheConnectionEnds) {
  for (const Framing framing : {Framing::until_close, Framing::tunnel}) {
    const Decoded result = decode({.framing = framing}, {"0\r\n\r\n", "more"});
    EXPECT_EQ(result.body, "0\r\n\r\nmore");
    EXPECT_FALSE(result.done);
  }
}

constexpr std::string_view kChunks =
    "5\r\nhello\r\n"
    "00A; name ; other = \"a;\\\"b\"\r\n, world ok\r\n"
    "1;x=y\r\n!\r\n"
    "0;last\r\n"
    "Checksum: abc\r\n"
    "Content-Length: 3\r\n"
    "x-more:  yes \r\n"
    "\r\n";

TEST(BodyDecoder, YieldsTheSameBodyHowEverChunksAreCut) {
  const std::string whole = std::string(kChunks) + "GET / HTTP/1.1\r\n";
  titanium::test::for_each_cut(whole, [](std::string_view first, std::string_view second) {
    const Decoded result = decode(kChunked, {first, second});
    ASSERT_FALSE(result.error) << result.error->what;
    EXPECT_EQ(result.body, "hello, world ok!");
    EXPECT_TRUE(result.done);
    EXPECT_EQ(result.consumed, kChunks.size());
    EXPECT_EQ(result.trailers, "Checksum: abc\nx-more: yes\n");
  });
}

TEST(BodyDecoder, TakesChunksByteByByte) {
  BodyDecoder decoder(Side::origin);
  decoder.start(kChunked);
  http::FieldList trailers;
  std::string pending;
  std::string body;
  for (const char c : kChunks) {
    ASSERT_FALSE(decoder.done());
    pending.push_back(c);
    const ExactCopy input(pending);
    const auto step = decoder.next(input.view(), trailers);
    ASSERT_TRUE(step.has_value());
    body += pending.substr(step->overhead, step->data);
    pending.erase(0, step->overhead + step->data);
  }
  EXPECT_TRUE(decoder.done());
  EXPECT_EQ(body, "hello, world ok!");
}

TEST(BodyDecoder, RefusesChunksThatTwoParsersCouldReadDifferently) {
  struct Case {
    std::string_view name, input;
  };
  const Case cases[] = {
      {"no size", "\r\nx"},
      {"sign", "+5\r\nhello\r\n"},
      {"minus", "-5\r\nhello\r\n"},
      {"0x", "0x5\r\nhello\r\n"},
      {"leading blank", " 5\r\nhello\r\n"},
      {"trailing blank", "5 \r\nhello\r\n"},
      {"trailing tab", "5\t\r\nhello\r\n"},
      {"no hexadecimal digit", "g\r\nhello\r\n"},
      {"junk behind the size", "5x\r\nhello\r\n"},
      {"comma", "5,5\r\nhello\r\n"},
      {"17 digits", "00000000000000005\r\nhello\r\n"},
      {"bare LF behind the size", "5\nhello\r\n"},
      {"bare CR behind the size", "5\rhello\r\n"},
      {"CR CR LF behind the size", "5\r\r\nhello\r\n"},
      {"LF within an extension", "5;a\nb\r\nhello\r\n"},
      {"NUL within an extension", {"5;a\0b\r\nhello\r\n", 15}},
      {"vertical tab", "5\x0b\r\nhello\r\n"},
      {"extension without a name", "5;\r\nhello\r\n"},
      {"extension that is not a token", "5;a=b c\r\nhello\r\n"},
      {"extension that does not end", "5;a=\"b\r\nhello\r\n"},
      {"no CRLF behind the data", "5\r\nhelloX\r\n"},
      {"bare LF behind the data", "5\r\nhello\n5\r\n"},
      {"CR and something behind the data", "5\r\nhello\rX"},
      {"data longer than the size", "4\r\nhello\r\n"},
      {"folded trailer", "0\r\nA: b\r\n c\r\n\r\n"},
      {"blank before the colon of a trailer", "0\r\nA : b\r\n\r\n"},
      {"trailer without a colon", "0\r\nA\r\n\r\n"},
      {"trailer without a name", "0\r\n: b\r\n\r\n"},
      {"bare LF in trailers", "0\r\nA: b\n\r\n"},
      {"bare LF at the end", "0\r\n\n"},
      {"control byte in a trailer", "0\r\nA: \x01\r\n\r\n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    titanium::test::for_each_cut(c.input, [](std::string_view first, std::string_view second) {
      const Decoded result = decode(kChunked, {first, second});
      ASSERT_TRUE(result.error);
      EXPECT_EQ(result.error->code, Code::protocol);
      EXPECT_EQ(result.error->side, Side::client);
      EXPECT_EQ(result.error->status, 400);
      EXPECT_FALSE(result.done);
    });
  }
}

TEST(BodyDecoder, KeepsToItsLimits) {
  const BodyLimits limits{.chunk_line_bytes = 12,
                          .chunk_extension_bytes = 10,
                          .chunk_bytes = 0x10,
                          .trailer_bytes = 20,
                          .trailer_fields = 2};
  struct Case {
    std::string_view name, input;
    std::uint16_t status;  // 0: accepted.
  };
  const Case cases[] = {
      {"chunk line of 12 bytes", "1;aaaaaaaa\r\nx\r\n0\r\n\r\n", 0},
      {"chunk line of 13 bytes", "1;aaaaaaaaa\r\nx\r\n0\r\n\r\n", 400},
      {"chunk line without an end", "1;aaaaaaaaaa", 400},
      {"extensions of 10 bytes", "1;aaaa\r\nx\r\n0;bbbb\r\n\r\n", 0},
      {"extensions of 11 bytes", "1;aaaa\r\nx\r\n0;bbbbb\r\n\r\n", 400},
      {"chunk of 16 bytes", "10\r\n0123456789abcdef\r\n0\r\n\r\n", 0},
      {"chunk of 17 bytes", "11\r\n", 413},
      {"chunk of 2^64-1 bytes", "FFFFFFFFFF\r\n", 413},
      {"trailers of 20 bytes", "0\r\na: b\r\ncc: dddddd\r\n\r\n", 0},
      {"trailers of 21 bytes", "0\r\na: b\r\ncc: ddddddd\r\n\r\n", 431},
      {"trailers without an end", "0\r\na: bbbbbbbbbbbbbbbbb", 431},
      {"three trailers", "0\r\na:\r\nb:\r\nc:\r\n\r\n", 431},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const Decoded result = decode(kChunked, {c.input}, limits);
    EXPECT_EQ(result.done, c.status == 0);
    if (c.status == 0) continue;
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->status, c.status);
    EXPECT_EQ(result.error->code, Code::limit);
  }
}

TEST(BodyDecoder, TakesTheLargestSizeOf64BitsIfAllowed) {
  const BodyLimits limits{.chunk_bytes = ~std::uint64_t{0}};
  const Decoded result = decode(kChunked, {"ffffffffffffffff\r\nabc"}, limits);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.body, "abc");
}

TEST(BodyDecoder, MarksFieldsThatMayNotBeTrailers) {
  BodyDecoder decoder(Side::origin);
  decoder.start(kChunked);
  http::FieldList trailers;
  const auto step = decoder.next(
      "0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nAuthorization: x\r\n"
      "Set-Cookie: x\r\ngrpc-status: 0\r\nETag: x\r\n\r\n",
      trailers);
  ASSERT_TRUE(step.has_value() && step->done);
  EXPECT_EQ(trailers.size(), 7u);
  EXPECT_EQ(describe(trailers), "grpc-status: 0\nETag: x\n");
}

TEST(BodyDecoder, TellsACompleteMessageFromATruncatedOne) {
  struct Case {
    MessageFraming framing;
    std::string_view input;
    bool complete;
  };
  const MessageFraming five{.framing = Framing::fixed, .bytes = 5};
  const Case cases[] = {
      {{}, "", true},
      {five, "hell", false},
      {five, "hello", true},
      {kChunked, "", false},
      {kChunked, "5\r\nhello\r\n", false},
      {kChunked, "5\r\nhello\r\n0\r\n", false},
      {kChunked, "5\r\nhello\r\n0\r\n\r\n", true},
      {{.framing = Framing::until_close}, "any", true},
      {{.framing = Framing::tunnel}, "", true},
  };
  for (const auto& c : cases) {
    BodyDecoder decoder(Side::origin);
    decoder.start(c.framing);
    http::FieldList trailers;
    std::string_view rest = c.input;
    for (;;) {
      const auto step = decoder.next(rest, trailers);
      ASSERT_TRUE(step.has_value());
      if (step->overhead + step->data == 0) break;
      rest.remove_prefix(step->overhead + step->data);
    }
    const auto end = decoder.end_of_input();
    EXPECT_EQ(end.has_value(), c.complete) << c.input;
    EXPECT_EQ(decoder.done(), c.complete);
    if (end) continue;
    EXPECT_EQ(end.error().code, Code::closed);
    EXPECT_EQ(end.error().side, Side::origin);
  }
}

TEST(BodyDecoder, StartsAnewForTheNextMessage) {
  BodyDecoder decoder(Side::client, {.chunk_extension_bytes = 4});
  http::FieldList trailers;
  for (int i = 0; i < 3; ++i) {
    decoder.start(kChunked);
    const auto step = decoder.next("0;abc\r\nA: b\r\n\r\n", trailers);
    ASSERT_TRUE(step.has_value());
    EXPECT_TRUE(step->done);
    EXPECT_EQ(trailers.size(), 1u);
  }
}

}  // namespace
}  // namespace titanium::http1
