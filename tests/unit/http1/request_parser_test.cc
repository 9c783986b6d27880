// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/every_cut.h"
#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

using test::describe;
using test::parse_request;
using titanium::test::ExactCopy;

struct Accepted {
  std::string_view name;
  std::string_view head;
  std::string_view expected;  // As describe() puts it.
  Framing framing = Framing::none;
  bool persistent = true;
};

void expect_accepted(const Accepted& c) {
  SCOPED_TRACE(std::string(c.name));
  const std::string text = std::string(c.head) + "behind";
  const auto parsed = parse_request(text);
  ASSERT_TRUE(parsed.length.has_value()) << parsed.length.error().what;
  EXPECT_EQ(*parsed.length, c.head.size());
  EXPECT_EQ(describe(parsed.head), c.expected);
  EXPECT_EQ(parsed.info.framing, c.framing);
  EXPECT_EQ(parsed.info.persistent, c.persistent);
}

TEST(RequestParser, ReadsTargetsInAllFourForms) {
  const Accepted cases[] = {
      {"origin-form", "GET /a/b?c=d HTTP/1.1\r\nHost: h\r\n\r\n", "GET http h /a/b?c=d body=none"},
      {"absolute-form", "GET http://h:81/a?b HTTP/1.1\r\nHost: h:81\r\n\r\n",
       "GET http h:81 /a?b body=none"},
      {"absolute-form, https and upper case", "GET HTTPS://H/ HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET https H / body=none"},
      {"absolute-form without a path", "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET http h / body=none"},
      {"absolute-form, default port on one side", "GET http://h:80/ HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET http h:80 / body=none"},
      {"asterisk-form", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS http h * body=none"},
      {"OPTIONS for a whole server through a proxy", "OPTIONS http://h HTTP/1.1\r\nHost: h\r\n\r\n",
       "OPTIONS http h * body=none"},
      {"OPTIONS for the root", "OPTIONS http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
       "OPTIONS http h / body=none"},
      {"authority-form", "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
       "CONNECT http h:443  body=tunnel", Framing::tunnel, false},
      {"authority-form, Host without the port", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
       "CONNECT http h:443  body=tunnel", Framing::tunnel, false},
      {"IPv6", "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET http [::1]:8080 / body=none"},
      {"a method of our own", "M-SEARCH / HTTP/1.1\r\nHost: h\r\n\r\n",
       "M-SEARCH http h / body=none"},
      {"empty lines in front", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
       "GET http h / body=none"},
  };
  for (const auto& c : cases) expect_accepted(c);
}

TEST(RequestParser, FindsOutAboutBodyAndConnection) {
  const Accepted cases[] = {
      {"length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n",
       "POST http h / body=sized 12", Framing::fixed},
      {"length zero", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
       "POST http h / body=sized 0", Framing::fixed},
      {"chunked in any case", "POST / HTTP/1.1\r\nHost: h\r\nTRANSFER-encoding: Chunked\r\n\r\n",
       "POST http h / body=streamed", Framing::chunked},
      {"close", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET http h / body=none",
       Framing::none, false},
      {"close in a list", "GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n",
       "GET http h / body=none", Framing::none, false},
      {"close in a second line",
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
       "GET http h / body=none", Framing::none, false},
      {"a word that only starts like close",
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: closed\r\n\r\n", "GET http h / body=none"},
      {"1.0 closes", "GET / HTTP/1.0\r\nHost: h\r\n\r\n", "GET http h / body=none 1.0",
       Framing::none, false},
      {"1.0 with keep-alive", "GET / HTTP/1.0\r\nHost: h\r\nConnection: Keep-Alive\r\n\r\n",
       "GET http h / body=none 1.0"},
      {"1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "GET http  / body=none 1.0", Framing::none,
       false},
      {"a later minor version", "GET / HTTP/1.9\r\nHost: h\r\n\r\n", "GET http h / body=none"},
      {"upgrade",
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
       "GET http h / body=none upgrade=websocket"},
      {"Upgrade that Connection does not name",
       "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n", "GET http h / body=none"},
      {"upgrade in 1.0",
       "GET / HTTP/1.0\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
       "GET http h / body=none 1.0", Framing::none, false},
      {"upgrade to h2c, which would pass by our rules",
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: H2C\r\n\r\n",
       "GET http h / body=none"},
      {"trailers are welcome", "GET / HTTP/1.1\r\nHost: h\r\nTE: gzip;q=0.5, Trailers\r\n\r\n",
       "GET http h / body=none accepts-trailers"},
      {"expectation",
       "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n",
       "PUT http h / body=sized 1 expects-continue", Framing::fixed},
      {"expectation without a body", "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
       "PUT http h / body=none"},
      {"expectation in 1.0", "PUT / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
       "PUT http  / body=sized 1 1.0", Framing::fixed, false},
  };
  for (const auto& c : cases) expect_accepted(c);
}

struct Refused {
  std::string_view name;
  std::string_view head;
  std::uint16_t status = 400;
  Code code = Code::protocol;
};

void expect_refused(const Refused& c) {
  SCOPED_TRACE(std::string(c.name));
  const auto parsed = parse_request(c.head);
  ASSERT_FALSE(parsed.length.has_value());
  EXPECT_EQ(parsed.length.error().status, c.status) << parsed.length.error().what;
  EXPECT_EQ(parsed.length.error().code, c.code);
  EXPECT_EQ(parsed.length.error().side, Side::client);
}

TEST(RequestParser, RefusesRequestLinesThatAreNotExact) {
  const Refused cases[] = {
      {"two blanks after the method", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"two blanks before the version", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a tab", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a blank in front", " GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a blank behind", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"},
      {"a blank in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"no target", "GET HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"empty target", "GET  HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"no version (HTTP/0.9)", "GET /\r\n\r\n"},
      {"one word", "GET\r\n\r\n"},
      {"no method", " / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"method is not a token", "G@T / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"method of 65 bytes",
       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n\r\n"},
      {"lower-case version", "GET / http/1.1\r\nHost: h\r\n\r\n"},
      {"two-digit minor version", "GET / HTTP/1.10\r\nHost: h\r\n\r\n"},
      {"no minor version", "GET / HTTP/1\r\nHost: h\r\n\r\n"},
      {"junk as version", "GET / HTTP/x.y\r\nHost: h\r\n\r\n"},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
      {"HTTP/0.9 in full", "GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"three empty lines in front", "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a TLS handshake", "\x16\x03\x01\x02"},
  };
  for (const auto& c : cases) expect_refused(c);
}

TEST(RequestParser, RefusesTargetsThatDoNotFitTheMethod) {
  const Refused cases[] = {
      {"* with GET", "GET * HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"** with OPTIONS", "OPTIONS ** HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a path with CONNECT", "CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a URI with CONNECT", "CONNECT http://h:80 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"CONNECT without a port", "CONNECT h HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"CONNECT with an empty port", "CONNECT h: HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"an authority with GET", "GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"a relative path", "GET a/b HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"another scheme", "GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"userinfo", "GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"URI with a query and no path", "GET http://h?q HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"bad percent-encoding", "GET /%4 HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"NUL", {"GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 29}},
      {"CONNECT with a body", "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\nContent-Length: 1\r\n\r\n"},
  };
  for (const auto& c : cases) expect_refused(c);
}

TEST(RequestParser, RefusesHostsThatTwoParsersCouldReadDifferently) {
  const Refused cases[] = {
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"no Host with an absolute target", "GET http://h/ HTTP/1.1\r\n\r\n"},
      {"two", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
      {"two that agree", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"},
      {"two in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
      {"empty", "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
      {"a list", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
      {"a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {"userinfo", "GET / HTTP/1.1\r\nHost: u@h\r\n\r\n"},
      {"port out of range", "GET / HTTP/1.1\r\nHost: h:65536\r\n\r\n"},
      {"another host than the target", "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n"},
      {"another port than the target", "GET http://a/ HTTP/1.1\r\nHost: a:81\r\n\r\n"},
      {"another host than CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: b:1\r\n\r\n"},
      {"another port than CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:2\r\n\r\n"},
  };
  for (const auto& c : cases) expect_refused(c);
}

TEST(RequestParser, RefusesUnknownExpectations) {
  const Refused cases[] = {
      {"another one", "PUT / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417, Code::unsupported},
      {"another one, too", "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue, tea\r\n\r\n", 417,
       Code::unsupported},
  };
  for (const auto& c : cases) expect_refused(c);
}

TEST(RequestParser, BoundsTheOptionsOfConnection) {
  std::string head = "GET / HTTP/1.1\r\nHost: h\r\nConnection: a";
  for (int i = 0; i < 63; ++i) head += ",b";
  EXPECT_TRUE(parse_request(head + "\r\n\r\n").length.has_value());
  expect_refused({"65 options", head + ",c\r\n\r\n", 431, Code::limit});
}

TEST(RequestParser, AppliesItsLimitsAsSoonAsTheyAreExceeded) {
  const HeadLimits limits{.line_bytes = 40, .head_bytes = 100, .fields = 3};
  struct Case {
    std::string_view name;
    std::string text;
    std::uint16_t status;  // 0: accepted or incomplete.
  };
  const std::string start = "GET / HTTP/1.1\r\nHost: h\r\n";  // 25 bytes
  const Case cases[] = {
      {"request line of 40 bytes", "GET /" + std::string(24, 'a') + " HTTP/1.1\r\n", 0},
      {"request line of 41 bytes", "GET /" + std::string(25, 'a') + " HTTP/1.1\r\n", 414},
      {"unfinished request line of 39 bytes", "GET /" + std::string(34, 'a'), 0},
      {"unfinished request line of 40 bytes", "GET /" + std::string(35, 'a'), 414},
      {"field line of 40 bytes", start + "a: " + std::string(35, 'b') + "\r\n\r\n", 0},
      {"field line of 41 bytes", start + "a: " + std::string(36, 'b') + "\r\n\r\n", 431},
      {"unfinished field line of 40 bytes", start + "a: " + std::string(37, 'b'), 431},
      {"three fields", start + "a: b\r\nc: d\r\n\r\n", 0},
      {"four fields", start + "a: b\r\nc: d\r\ne: f\r\n", 431},
      {"head of 100 bytes",
       start + "a: " + std::string(35, 'b') + "\r\nc: " + std::string(28, 'd') + "\r\n\r\n", 0},
      {"head of 101 bytes",
       start + "a: " + std::string(35, 'b') + "\r\nc: " + std::string(29, 'd') + "\r\n\r\n", 431},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto parsed = parse_request(c.text, limits);
    if (c.status == 0) {
      EXPECT_TRUE(parsed.length.has_value()) << parsed.length.error().what;
      continue;
    }
    ASSERT_FALSE(parsed.length.has_value());
    EXPECT_EQ(parsed.length.error().status, c.status);
    EXPECT_EQ(parsed.length.error().code, Code::limit);
  }
}

TEST(RequestParser, AnswersALongRequestLineWithUriTooLongThoughTheHeadLimitIsLower) {
  const HeadLimits limits{.line_bytes = 1000, .head_bytes = 50};
  const std::string text(50, 'a');
  EXPECT_EQ(parse_request(text, limits).length.error().status, 414);
}

constexpr std::string_view kLongHead =
    "\r\nPOST /path/to?query=%41&x=[y] HTTP/1.1\r\n"
    "Host: example.com:8080\r\n"
    "user-agent: test/1.0 (a; b)\r\n"
    "Empty:\r\n"
    "X-Blanks: \t  a b \t \r\n"
    "X-Bytes: \xc3\xa9\xff\r\n"
    "Transfer-Encoding: chunked\r\n"
    "TE: trailers\r\n"
    "Expect: 100-continue\r\n"
    "Connection: TE\r\n"
    "\r\n";

TEST(RequestParser, YieldsTheSameHowEverTheInputIsCutAndTheBufferMoves) {
  const std::string whole = std::string(kLongHead) + "5\r\nhello";
  const auto expected = parse_request(whole);
  ASSERT_TRUE(expected.length.has_value());
  titanium::test::for_each_cut(whole, [&](std::string_view first, std::string_view /*second*/) {
    RequestParser parser;
    http::RequestHead head;
    ConnectionInfo info;
    {
      const ExactCopy early(first);
      const auto length = parser.parse(early.view(), head, info);
      ASSERT_TRUE(length.has_value());
      EXPECT_EQ(length->has_value(), first.size() >= kLongHead.size());
    }
    const ExactCopy late(whole);  // The first copy is gone: views into it would be stale.
    const auto length = parser.parse(late.view(), head, info);
    ASSERT_TRUE(length.has_value());
    EXPECT_EQ(*length, kLongHead.size());
    EXPECT_EQ(describe(head), describe(expected.head));
    EXPECT_EQ(describe(head.fields), describe(expected.head.fields));
    EXPECT_EQ(info.framing, Framing::chunked);
  });
}

TEST(RequestParser, TakesAHeadByteByByte) {
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  for (std::size_t size = 0; size < kLongHead.size(); ++size) {
    const ExactCopy part(kLongHead.substr(0, size));
    const auto length = parser.parse(part.view(), head, info);
    ASSERT_TRUE(length.has_value());
    ASSERT_FALSE(length->has_value()) << size;
  }
  const ExactCopy all(kLongHead);
  ASSERT_EQ(*parser.parse(all.view(), head, info), kLongHead.size());
  EXPECT_EQ(describe(head),
            "POST http example.com:8080 /path/to?query=%41&x=[y] body=streamed expects-continue "
            "accepts-trailers");
}

TEST(RequestParser, FindsAnErrorAtEveryCut) {
  constexpr std::string_view kBad = "GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n";
  titanium::test::for_each_cut(kBad, [&](std::string_view first, std::string_view /*second*/) {
    RequestParser parser;
    http::RequestHead head;
    ConnectionInfo info;
    const ExactCopy early(first);
    const ExactCopy late(kBad);
    const bool failed_early = !parser.parse(early.view(), head, info).has_value();
    EXPECT_TRUE(failed_early || !parser.parse(late.view(), head, info).has_value());
  });
}

TEST(RequestParser, ReadsPipelinedRequestsOneByOne) {
  constexpr std::string_view kTwo =
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  std::string_view rest = kTwo;
  for (const std::string_view path : {"/1", "/2"}) {
    const auto length = parser.parse(rest, head, info);
    ASSERT_TRUE(length.has_value() && length->has_value());
    EXPECT_EQ(head.path, path);
    EXPECT_EQ(head.fields.size(), 1u);
    rest.remove_prefix(**length);
    parser.reset();
  }
  EXPECT_TRUE(rest.empty());
}

TEST(RequestParser, HasStartedOnceTheRequestLineIsThere) {
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  const std::string_view text = "GET / HTTP/1.1\r\nHost";
  for (const auto& [size, started] : {std::pair{0, false}, {14, false}, {15, false}, {16, true}}) {
    const auto part = text.substr(0, static_cast<std::size_t>(size));
    ASSERT_TRUE(parser.parse(part, head, info).has_value());
    EXPECT_EQ(parser.has_started(), started) << size;
  }
  parser.reset();
  EXPECT_FALSE(parser.has_started());
}

TEST(RequestParser, KeepsTheLinesThatCanBeForwardedAsTheyAre) {
  const std::string_view text =
      "GET / HTTP/1.1\r\nHost: h\r\nExact: value\r\nno-blank:v\r\ntwo:  v\r\nbehind: v \r\n"
      "tab:\tv\r\nempty:\r\nempty-but-blank: \r\n\r\n";
  const auto parsed = parse_request(text);
  ASSERT_TRUE(parsed.length.has_value());
  for (const http::Field& field : parsed.head.fields) {
    SCOPED_TRACE(std::string(field.name));
    const bool exact =
        field.name == "Host" || field.name == "Exact" || field.name == "empty-but-blank";
    EXPECT_EQ(!field.line.empty(), exact);
    if (exact) {
      EXPECT_EQ(field.line, std::string(field.name) + ": " + std::string(field.value) + "\r\n");
      EXPECT_EQ(field.line.data(), field.name.data());
    }
  }
}

}  // namespace
}  // namespace titanium::http1
