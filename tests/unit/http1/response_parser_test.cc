// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/every_cut.h"
#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

using http::Method;
using test::describe;
using test::parse_response;
using titanium::test::ExactCopy;

struct Accepted {
  std::string_view name;
  std::string_view head;
  std::string_view expected;
  Framing framing = Framing::none;
  bool persistent = true;
  Method method = Method::get;
};

TEST(ResponseParser, FindsOutAboutStatusBodyAndConnection) {
  const Accepted cases[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 OK body=sized 5",
       Framing::fixed},
      {"length zero", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK body=sized 0",
       Framing::fixed},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 OK body=streamed",
       Framing::chunked},
      {"until close", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n", "200 OK body=streamed",
       Framing::until_close, false},
      {"reason of several words", "HTTP/1.1 404 Not\tFound \xc3\xa9\r\nContent-Length: 0\r\n\r\n",
       "404 Not\tFound \xc3\xa9 body=sized 0", Framing::fixed},
      {"empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "200  body=sized 0",
       Framing::fixed},
      {"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "200  body=sized 0",
       Framing::fixed},
      {"close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
       "200 OK body=sized 0", Framing::fixed, false},
      {"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK body=sized 0 1.0",
       Framing::fixed, false},
      {"1.0 with keep-alive",
       "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
       "200 OK body=sized 0 1.0", Framing::fixed},
      {"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "103 Early Hints body=none"},
      {"interim with a length that must not be", "HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n",
       "100 C body=none"},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", "204 No Content body=none"},
      {"204 with a length that must not be", "HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\n",
       "204 N body=none"},
      {"304", "HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\n", "304 N body=none declared=5"},
      {"304 for a chunked body", "HTTP/1.1 304 N\r\nTransfer-Encoding: chunked\r\n\r\n",
       "304 N body=none"},
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 OK body=none declared=5",
       Framing::none, true, Method::head},
      {"HEAD for a chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       "200 OK body=none", Framing::none, true, Method::head},
      {"HEAD without any length", "HTTP/1.1 200 OK\r\n\r\n", "200 OK body=none", Framing::none,
       true, Method::head},
      {"101", "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
       "101 S body=tunnel upgrade=websocket", Framing::tunnel, false},
      {"success of CONNECT", "HTTP/1.1 200 OK\r\n\r\n", "200 OK body=tunnel", Framing::tunnel,
       false, Method::connect},
      {"success of CONNECT with a length to ignore", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
       "200 OK body=tunnel", Framing::tunnel, false, Method::connect},
      {"failure of CONNECT", "HTTP/1.1 403 F\r\nContent-Length: 5\r\n\r\n", "403 F body=sized 5",
       Framing::fixed, true, Method::connect},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto parsed = parse_response(c.head, c.method);
    ASSERT_TRUE(parsed.length.has_value()) << parsed.length.error().what;
    EXPECT_EQ(*parsed.length, c.head.size());
    EXPECT_EQ(describe(parsed.head), c.expected);
    EXPECT_EQ(parsed.info.framing, c.framing);
    EXPECT_EQ(parsed.info.persistent, c.persistent);
  }
}

TEST(ResponseParser, BlamesTheOriginForWhatItRefuses) {
  struct Refused {
    std::string_view name;
    std::string_view head;
    Code code = Code::protocol;
  };
  const Refused cases[] = {
      {"an empty line in front", "\r\nHTTP/1.1 200 OK\r\n\r\n"},
      {"no status", "HTTP/1.1\r\n\r\n"},
      {"two blanks", "HTTP/1.1  200 OK\r\n\r\n"},
      {"two digits", "HTTP/1.1 20 OK\r\n\r\n"},
      {"four digits", "HTTP/1.1 2000 OK\r\n\r\n"},
      {"a letter", "HTTP/1.1 2x0 OK\r\n\r\n"},
      {"a sign", "HTTP/1.1 +20 OK\r\n\r\n"},
      {"status 099", "HTTP/1.1 099 OK\r\n\r\n"},
      {"status 600", "HTTP/1.1 600 OK\r\n\r\n"},
      {"a tab before the reason", "HTTP/1.1 200\tOK\r\n\r\n"},
      {"HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n"},
      {"ICY", "ICY 200 OK\r\n\r\n"},
      {"control byte in the reason", "HTTP/1.1 200 O\x01K\r\n\r\n"},
      {"line folding", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"},
      {"bare LF", "HTTP/1.1 200 OK\nA: b\n\n"},
      {"blank before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n"},
      {"both framing fields",
       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"},
      {"list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n"},
      {"bad length where it does not matter", "HTTP/1.1 304 N\r\nContent-Length: x\r\n\r\n"},
      {"chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"chunked in an interim response", "HTTP/1.1 100 C\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"chunked in 101", "HTTP/1.1 101 C\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"chunked in 204", "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"other coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Code::unsupported},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto parsed = parse_response(c.head);
    ASSERT_FALSE(parsed.length.has_value());
    EXPECT_EQ(parsed.length.error().side, Side::origin);
    EXPECT_EQ(parsed.length.error().code, c.code);
    EXPECT_EQ(parsed.length.error().status, 502);
  }
}

TEST(ResponseParser, KeepsToItsLimits) {
  const HeadLimits limits{.line_bytes = 30, .head_bytes = 60, .fields = 2};
  const std::string_view cases[] = {
      "HTTP/1.1 200 aaaaaaaaaaaaaaaaaa\r\n",
      "HTTP/1.1 200 OK\r\na: b\r\nc: d\r\ne: f\r\n",
      "HTTP/1.1 200 OK\r\naaaaaaaaaa: bbbbbbbbbbb\r\ncccccccccc: ddddddddddd\r\n",
  };
  for (const std::string_view text : cases) {
    const auto parsed = parse_response(text, Method::get, limits);
    ASSERT_FALSE(parsed.length.has_value()) << text;
    EXPECT_EQ(parsed.length.error().code, Code::limit);
    EXPECT_EQ(parsed.length.error().side, Side::origin);
  }
}

TEST(ResponseParser, YieldsTheSameHowEverTheInputIsCutAndTheBufferMoves) {
  constexpr std::string_view kHead =
      "HTTP/1.1 200 All right\r\nServer: x\r\nContent-Length:  5 \r\nETag: \"\xff\"\r\n"
      "Connection: close\r\n\r\n";
  const std::string whole = std::string(kHead) + "hello";
  const auto expected = parse_response(whole);
  ASSERT_TRUE(expected.length.has_value());
  titanium::test::for_each_cut(whole, [&](std::string_view first, std::string_view /*second*/) {
    ResponseParser parser;
    http::ResponseHead head;
    ConnectionInfo info;
    {
      const ExactCopy early(first);
      const auto length = parser.parse(early.view(), Method::get, head, info);
      ASSERT_TRUE(length.has_value());
      EXPECT_EQ(length->has_value(), first.size() >= kHead.size());
    }
    const ExactCopy late(whole);
    const auto length = parser.parse(late.view(), Method::get, head, info);
    ASSERT_TRUE(length.has_value());
    EXPECT_EQ(*length, kHead.size());
    EXPECT_EQ(describe(head), describe(expected.head));
    EXPECT_EQ(describe(head.fields), describe(expected.head.fields));
    EXPECT_FALSE(info.persistent);
  });
}

TEST(ResponseParser, ReadsAFinalResponseBehindAnInterimOne) {
  constexpr std::string_view kBoth =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  ResponseParser parser;
  http::ResponseHead head;
  ConnectionInfo info;
  const auto first = parser.parse(kBoth, Method::post, head, info);
  ASSERT_TRUE(first.has_value() && first->has_value());
  EXPECT_TRUE(head.is_interim());
  parser.reset();
  const auto second = parser.parse(kBoth.substr(**first), Method::post, head, info);
  ASSERT_TRUE(second.has_value() && second->has_value());
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(**first + **second, kBoth.size());
}

}  // namespace
}  // namespace titanium::http1
