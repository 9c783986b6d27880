// SPDX-License-Identifier: MIT
#include "http2/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/http2/support/frames.h"

namespace titanium::http2 {
namespace {

using http::BodyKind;
using http::BodySize;
using http::Method;
using test::get_lines;
using test::Lines;
using test::post_lines;

FieldBlock block_of(const Lines& lines) {
  FieldBlock block;
  for (const auto& [name, value] : lines) {
    block.add(name, value, http::find_known_field(name), false);
  }
  return block;
}
Lines operator+(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}
Lines with(Lines lines, std::string_view name, std::string_view value) {
  for (auto& line : lines) {
    if (line.first == name) line.second = value;
  }
  return lines;
}
Lines without(Lines lines, std::string_view name) {
  std::erase_if(lines, [&](const auto& line) { return line.first == name; });
  return lines;
}

struct Request {
  explicit Request(const Lines& lines, bool ended = true, bool extended_connect = true)
      : block(block_of(lines)), result(read_request(block, ended, extended_connect, head)) {}
  FieldBlock block;
  http::RequestHead head;
  Result<> result;
};
struct Response {
  explicit Response(const Lines& lines, bool ended = false, Method method = Method::get,
                    bool upgraded = false)
      : block(block_of(lines)), result(read_response(block, ended, method, upgraded, head)) {}
  FieldBlock block;
  http::ResponseHead head;
  Result<> result;
};

TEST(ReadRequest, FillsTheHead) {
  const Request request(get_lines("/a?b") + Lines{{"accept", "*/*"}, {"te", "trailers"}});
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.version, http::Version::http2);
  EXPECT_EQ(request.head.method, Method::get);
  EXPECT_EQ(request.head.method_text, "GET");
  EXPECT_EQ(request.head.scheme, "http");
  EXPECT_EQ(request.head.authority, "a.example");
  EXPECT_EQ(request.head.path, "/a?b");
  EXPECT_EQ(request.head.body, BodySize{});
  EXPECT_TRUE(request.head.accepts_trailers);
  EXPECT_EQ(request.head.fields.find("accept")->value, "*/*");
  EXPECT_EQ(request.head.fields.find("te"), nullptr);  // Dropped: the member says it.
}

TEST(ReadRequest, KnowsItsBody) {
  EXPECT_EQ(Request(post_lines(), false).head.body, BodySize{.kind = BodyKind::streamed});
  EXPECT_EQ(Request(post_lines() + Lines{{"content-length", "7"}}, false).head.body,
            (BodySize{.kind = BodyKind::sized, .bytes = 7}));
  EXPECT_EQ(Request(post_lines() + Lines{{"content-length", "0"}}, true).head.body, BodySize{});
}

TEST(ReadRequest, JoinsCookieLines) {
  const std::string large(1300, 'c');
  const Request request(get_lines() +
                        Lines{{"cookie", "a=1"}, {"x", "y"}, {"cookie", large}, {"cookie", "b=2"}});
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.fields.find("cookie")->value, "a=1; " + large + "; b=2");
  EXPECT_EQ(request.head.fields.find("x")->value, "y");
  EXPECT_EQ(request.head.fields.size(), 2U);
}

TEST(ReadRequest, TakesHostInsteadOfAuthority) {
  const Request request(without(get_lines(), ":authority") + Lines{{"host", "b.example"}});
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.authority, "b.example");
  EXPECT_TRUE(Request(get_lines() + Lines{{"host", "A.Example:80"}}).result);
}

TEST(ReadRequest, KnowsOptionsOfTheServer) {
  const Request request(with(get_lines("*"), ":method", "OPTIONS"));
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.path, "*");
}

TEST(ReadRequest, KnowsConnect) {
  const Request request({{":method", "CONNECT"}, {":authority", "a.example:443"}}, false);
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.method, Method::connect);
  EXPECT_EQ(request.head.body.kind, BodyKind::tunnel);
  EXPECT_EQ(request.head.authority, "a.example:443");
}

TEST(ReadRequest, TurnsExtendedConnectIntoUpgrade) {
  const Lines lines =
      Lines{{":protocol", "websocket"}} + with(get_lines("/chat"), ":method", "CONNECT");
  const Request request(lines, false);
  ASSERT_TRUE(request.result);
  EXPECT_EQ(request.head.method, Method::get);
  EXPECT_EQ(request.head.method_text, "GET");
  EXPECT_EQ(request.head.upgrade, "websocket");
  EXPECT_EQ(request.head.body, BodySize{});
  EXPECT_FALSE(Request(lines, false, false).result) << "it was not offered";
}

TEST(ReadRequest, KnowsExpectations) {
  const Lines lines = post_lines() + Lines{{"expect", "100-Continue"}};
  EXPECT_TRUE(Request(lines, false).head.expects_continue);
  EXPECT_FALSE(Request(lines, true).head.expects_continue);
  const Request other(post_lines() + Lines{{"expect", "200-ok"}}, false);
  ASSERT_FALSE(other.result);
  EXPECT_EQ(other.result.error().code, Code::unsupported);
  EXPECT_EQ(other.result.error().status, 417);
  EXPECT_EQ(other.head.path, "/");
}

struct Malformed {
  std::string_view name;
  Lines lines;
  bool ended = true;
};

void expect_malformed(const Malformed& c) {
  SCOPED_TRACE(std::string(c.name));
  const Request request(c.lines, c.ended);
  ASSERT_FALSE(request.result.has_value());
  EXPECT_EQ(request.result.error().code, Code::protocol);
  EXPECT_EQ(request.result.error().side, Side::client);
  EXPECT_EQ(request.result.error().status, 400);
}

TEST(ReadRequest, RefusesMalformedRequests) {
  const Lines lines = get_lines();
  const Lines connect = with(lines, ":method", "CONNECT");
  const Malformed cases[] = {
      {"nothing", {}},
      {"no :method", without(lines, ":method")},
      {"no :scheme", without(lines, ":scheme")},
      {"no :path", without(lines, ":path")},
      {"no :authority and no host", without(lines, ":authority")},
      {"empty :method", with(lines, ":method", "")},
      {"empty :scheme", with(lines, ":scheme", "")},
      {"empty :path", with(lines, ":path", "")},
      {"empty :authority", with(lines, ":authority", "")},
      {"empty host", without(lines, ":authority") + Lines{{"host", ""}}},
      {":method twice", Lines{{":method", "GET"}} + lines},
      {":scheme twice", Lines{{":scheme", "http"}} + lines},
      {":path twice", Lines{{":path", "/"}} + lines},
      {":authority twice", Lines{{":authority", "a.example"}} + lines},
      {"unknown pseudo-field", Lines{{":x", "y"}} + lines},
      {"pseudo-field of responses", Lines{{":status", "200"}} + lines},
      {"pseudo-field in upper case", Lines{{":Path", "/"}} + without(lines, ":path")},
      {"pseudo-field without a name", Lines{{":", "y"}} + lines},
      {"pseudo-field behind a regular one",
       without(lines, ":path") + Lines{{"x", "y"}, {":path", "/"}}},
      {"name in upper case", lines + Lines{{"X-a", "b"}}},
      {"empty name", lines + Lines{{"", "b"}}},
      {"blank in a name", lines + Lines{{"x y", "b"}}},
      {"colon in a name", lines + Lines{{"x:y", "b"}}},
      {"byte over 0x7f in a name", lines + Lines{{"x\xe4", "b"}}},
      {"connection", lines + Lines{{"connection", "close"}}},
      {"keep-alive", lines + Lines{{"keep-alive", "5"}}},
      {"proxy-connection", lines + Lines{{"proxy-connection", "close"}}},
      {"transfer-encoding", lines + Lines{{"transfer-encoding", "chunked"}}, false},
      {"upgrade", lines + Lines{{"upgrade", "websocket"}}},
      {"te other than trailers", lines + Lines{{"te", "gzip"}}},
      {"te with more than trailers", lines + Lines{{"te", "trailers, gzip"}}},
      {"host that differs", lines + Lines{{"host", "b.example"}}},
      {"host with another port", lines + Lines{{"host", "a.example:81"}}},
      {"host twice", lines + Lines{{"host", "a.example"}, {"host", "a.example"}}},
      {"content-length twice", lines + Lines{{"content-length", "0"}, {"content-length", "0"}}},
      {"two content-lengths in one", lines + Lines{{"content-length", "5, 5"}}, false},
      {"signed content-length", lines + Lines{{"content-length", "+5"}}, false},
      {"negative content-length", lines + Lines{{"content-length", "-5"}}, false},
      {"hexadecimal content-length", lines + Lines{{"content-length", "0x5"}}, false},
      {"empty content-length", lines + Lines{{"content-length", ""}}, false},
      {"content-length over 63 bits", lines + Lines{{"content-length", "9223372036854775808"}},
       false},
      {"content-length over 64 bits", lines + Lines{{"content-length", "18446744073709551616"}},
       false},
      {"content-length without a body", lines + Lines{{"content-length", "5"}}},
      {"scheme that is not ours", with(lines, ":scheme", "ftp")},
      {"path without a slash", with(lines, ":path", "a")},
      {"absolute URI as path", with(lines, ":path", "http://b.example/")},
      {"asterisk without OPTIONS", with(lines, ":path", "*")},
      {"fragment in the path", with(lines, ":path", "/a#b")},
      {"backslash in the path", with(lines, ":path", "/a\\b")},
      {"bad percent sign in the path", with(lines, ":path", "/%zz")},
      {"userinfo in :authority", with(lines, ":authority", "u@a.example")},
      {"bad port in :authority", with(lines, ":authority", "a.example:99999")},
      {"CONNECT with :path", connect},
      {"CONNECT without a port", {{":method", "CONNECT"}, {":authority", "a.example"}}, false},
      {"CONNECT without :authority", {{":method", "CONNECT"}}, false},
      {"CONNECT with a content-length",
       {{":method", "CONNECT"}, {":authority", "a.example:1"}, {"content-length", "5"}},
       false},
      {"CONNECT with another host",
       {{":method", "CONNECT"}, {":authority", "a.example:1"}, {"host", "b.example"}},
       false},
      {":protocol without CONNECT", Lines{{":protocol", "websocket"}} + lines, false},
      {":protocol h2c", Lines{{":protocol", "H2C"}} + connect, false},
      {":protocol that is a list", Lines{{":protocol", "a, b"}} + connect, false},
      {"extended CONNECT with a content-length",
       Lines{{":protocol", "websocket"}} + connect + Lines{{"content-length", "1"}}, false},
      {"extended CONNECT without :path",
       Lines{{":protocol", "websocket"}} + without(connect, ":path"), false},
      {"method that is too long", with(lines, ":method", std::string(65, 'M'))},
  };
  for (const Malformed& c : cases) expect_malformed(c);
}

// What would be another message in HTTP/1.
TEST(ReadRequest, RefusesWhatWouldSmuggle) {
  for (const char bad : {'\r', '\n', '\0', '\x0b', '\x7f', '\x01'}) {
    const std::string text = std::string("a") + bad + "b";
    expect_malformed({"value", get_lines() + Lines{{"x", text}}});
    expect_malformed({"name", get_lines() + Lines{{text, "x"}}});
    expect_malformed({"method", with(get_lines(), ":method", text)});
    expect_malformed({"path", with(get_lines(), ":path", "/" + text)});
    expect_malformed({"authority", with(get_lines(), ":authority", text)});
    expect_malformed({"scheme", with(get_lines(), ":scheme", text)});
    expect_malformed({"cookie", get_lines() + Lines{{"cookie", text}, {"cookie", "x"}}});
    expect_malformed({"host", without(get_lines(), ":authority") + Lines{{"host", text}}});
  }
  for (const std::string_view text : {" a", "a ", "\ta", "a\t", " "}) {
    expect_malformed({"blank around a value", get_lines() + Lines{{"x", std::string(text)}}});
    expect_malformed({"blank around a cookie",
                      get_lines() + Lines{{"cookie", std::string(text)}, {"cookie", "x"}}});
  }
  expect_malformed({"blank in a method", with(get_lines(), ":method", "GET /x HTTP/1.1")});
  expect_malformed({"blank in a path", with(get_lines(), ":path", "/ HTTP/1.1")});
  expect_malformed({"blank in an authority", with(get_lines(), ":authority", "a.example x")});
  expect_malformed({"blank in a protocol",
                    Lines{{":protocol", "a b"}} + with(get_lines(), ":method", "CONNECT"), false});
}

TEST(ReadRequest, TakesBytesThatOnlyLookOdd) {
  EXPECT_TRUE(Request(get_lines() + Lines{{"x", "caf\xc3\xa9"}, {"y", ""}, {"z", "a\tb"}}).result);
}

TEST(ReadResponse, FillsTheHead) {
  const Response response({{":status", "404"}, {"content-length", "3"}, {"x", "y"}});
  ASSERT_TRUE(response.result);
  EXPECT_EQ(response.head.status, 404);
  EXPECT_EQ(response.head.version, http::Version::http2);
  EXPECT_EQ(response.head.body, (BodySize{.kind = BodyKind::sized, .bytes = 3}));
  EXPECT_EQ(response.head.fields.find("x")->value, "y");
}

TEST(ReadResponse, KnowsItsBody) {
  struct Row {
    std::string_view name;
    Lines lines;
    bool ended;
    Method method;
    BodySize body;
    std::optional<std::uint64_t> declared;
  };
  const Row rows[] = {
      {"streamed", {{":status", "200"}}, false, Method::get, {.kind = BodyKind::streamed}, {}},
      {"ended", {{":status", "200"}}, true, Method::get, {.kind = BodyKind::sized}, {}},
      {"length 0",
       {{":status", "200"}, {"content-length", "0"}},
       true,
       Method::get,
       {.kind = BodyKind::sized},
       {}},
      {"HEAD", {{":status", "200"}, {"content-length", "5"}}, true, Method::head, {}, 5},
      {"304", {{":status", "304"}, {"content-length", "5"}}, true, Method::get, {}, 5},
      {"204", {{":status", "204"}, {"content-length", "0"}}, true, Method::get, {}, {}},
      {"interim", {{":status", "103"}}, false, Method::get, {}, {}},
      {"CONNECT",
       {{":status", "200"}, {"content-length", "5"}},
       false,
       Method::connect,
       {.kind = BodyKind::tunnel},
       {}},
      {"refused CONNECT",
       {{":status", "403"}},
       false,
       Method::connect,
       {.kind = BodyKind::streamed},
       {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.name));
    const Response response(row.lines, row.ended, row.method);
    ASSERT_TRUE(response.result);
    EXPECT_EQ(response.head.body, row.body);
    EXPECT_EQ(response.head.declared_length, row.declared);
  }
}

TEST(ReadResponse, TurnsTheAnswerToExtendedConnectInto101) {
  const Response opened({{":status", "200"}}, false, Method::get, true);
  ASSERT_TRUE(opened.result);
  EXPECT_EQ(opened.head.status, 101);
  EXPECT_EQ(opened.head.body.kind, BodyKind::tunnel);
  const Response refused({{":status", "404"}}, true, Method::get, true);
  ASSERT_TRUE(refused.result);
  EXPECT_EQ(refused.head.status, 404);
  EXPECT_FALSE(Response({{":status", "101"}}, false, Method::get, true).result);
}

TEST(ReadResponse, RefusesMalformedResponses) {
  const Malformed cases[] = {
      {"nothing", {}, false},
      {"no :status", {{"x", "y"}}, false},
      {":status twice", {{":status", "200"}, {":status", "200"}}, false},
      {":status behind a field", {{"x", "y"}, {":status", "200"}}, false},
      {":status of two digits", {{":status", "20"}}, false},
      {":status of four digits", {{":status", "2000"}}, false},
      {":status with a blank", {{":status", " 200"}}, false},
      {":status below 100", {{":status", "099"}}, false},
      {":status over 599", {{":status", "600"}}, false},
      {"101", {{":status", "101"}}, false},
      {"interim that ends", {{":status", "100"}}, true},
      {"pseudo-field of requests", {{":status", "200"}, {":path", "/"}}, false},
      {"connection", {{":status", "200"}, {"connection", "close"}}, false},
      {"transfer-encoding", {{":status", "200"}, {"transfer-encoding", "chunked"}}, false},
      {"content-length twice",
       {{":status", "200"}, {"content-length", "1"}, {"content-length", "1"}},
       false},
      {"content-length without a body", {{":status", "200"}, {"content-length", "1"}}, true},
      {"CR in a value", {{":status", "200"}, {"x", "a\rb"}}, false},
      {"LF in a value", {{":status", "200"}, {"x", "a\nb"}}, false},
      {"name in upper case", {{":status", "200"}, {"X", "a"}}, false},
  };
  for (const Malformed& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const Response response(c.lines, c.ended);
    ASSERT_FALSE(response.result.has_value());
    EXPECT_EQ(response.result.error().side, Side::origin);
    EXPECT_EQ(response.result.error().status, 502);
  }
}

TEST(ReadTrailers, DropsWhatMayNotBeATrailer) {
  FieldBlock block = block_of({{"x-sum", "1"}, {"content-length", "5"}, {"set-cookie", "a=b"}});
  http::FieldList trailers;
  ASSERT_TRUE(read_trailers(block, Side::client, trailers));
  EXPECT_NE(trailers.find("x-sum"), nullptr);
  EXPECT_EQ(trailers.find("content-length"), nullptr);
  EXPECT_EQ(trailers.find("set-cookie"), nullptr);
}

TEST(ReadTrailers, RefusesMalformedOnes) {
  for (const Lines& lines : {Lines{{":path", "/"}}, Lines{{":status", "200"}}, Lines{{"X", "y"}},
                             Lines{{"x", "a\nb"}}, Lines{{"connection", "close"}}}) {
    FieldBlock block = block_of(lines);
    http::FieldList trailers;
    EXPECT_FALSE(read_trailers(block, Side::client, trailers));
  }
}

std::string decoded(const std::string& block) {
  HpackDecoder decoder;
  FieldBlock fields;
  EXPECT_TRUE(decoder.decode(block, {}, Side::client, fields));
  std::string out;
  for (const auto& entry : fields.entries()) {
    out += std::string(fields.name(entry)) + "=" + std::string(fields.value(entry)) + " ";
  }
  return out;
}

TEST(WriteRequest, WritesWhatTheMembersSay) {
  HpackEncoder encoder;
  std::string out;
  http::RequestHead head;
  head.method = Method::post;
  head.method_text = "POST";
  head.scheme = "https";
  head.authority = "a.example";
  head.path = "/x";
  head.body = {.kind = BodyKind::sized, .bytes = 12};
  head.accepts_trailers = true;
  head.expects_continue = true;
  const Lines received = {{"Host", "b"},
                          {"Connection", "x"},
                          {"Content-Length", "99"},
                          {"TE", "gzip"},
                          {"Transfer-Encoding", "chunked"},
                          {"Upgrade", "h2c"},
                          {"Keep-Alive", "1"},
                          {"HTTP2-Settings", "x"},
                          {"Proxy-Connection", "x"},
                          {"Expect", "x"},
                          {"X-Y", "z"}};
  for (const auto& [name, value] : received) head.fields.add(name, value);
  head.fields.add("gone", "x");
  head.fields.back().dropped = true;
  write_request(encoder, head, out);
  EXPECT_EQ(decoded(out),
            ":method=POST :scheme=https :path=/x :authority=a.example x-y=z content-length=12 "
            "te=trailers expect=100-continue ");
}

TEST(WriteRequest, WritesConnect) {
  HpackEncoder encoder;
  std::string out;
  http::RequestHead head;
  head.method = Method::connect;
  head.method_text = "CONNECT";
  head.authority = "a.example:443";
  head.body = {.kind = BodyKind::tunnel};
  write_request(encoder, head, out);
  EXPECT_EQ(decoded(out), ":method=CONNECT :authority=a.example:443 ");
}

TEST(WriteRequest, TurnsUpgradeIntoExtendedConnect) {
  HpackEncoder encoder;
  std::string out;
  http::RequestHead head;
  head.method_text = "GET";
  head.scheme = "http";
  head.authority = "a.example";
  head.path = "/chat";
  head.upgrade = "websocket, other";
  head.fields.add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");  // HTTP/1's alone.
  write_request(encoder, head, out);
  EXPECT_EQ(decoded(out),
            ":method=CONNECT :protocol=websocket :scheme=http :path=/chat :authority=a.example ");
}

// RFC 7541 §6.2.3: what must not be compressed on one leg must not be on the other.
TEST(WriteRequest, PassesOnThatAFieldIsNeverIndexed) {
  FieldBlock block = block_of(get_lines("/"));
  block.add("x-token", "secret", http::KnownField::other, true);
  block.add("x-plain", "open", http::KnownField::other, false);
  http::RequestHead head;
  ASSERT_TRUE(read_request(block, true, false, head));
  HpackEncoder encoder;
  std::string out;
  write_request(encoder, head, out);
  HpackDecoder decoder;
  FieldBlock received;
  ASSERT_TRUE(decoder.decode(out, DecodeLimits{}, Side::client, received));
  std::vector<std::string_view> never;
  for (const FieldBlock::Entry& entry : received.entries()) {
    if (entry.never_indexed) never.push_back(received.name(entry));
  }
  EXPECT_EQ(never, (std::vector<std::string_view>{"x-token"}));
}

TEST(WriteResponse, WritesWhatTheMembersSay) {
  const auto written = [](std::uint16_t status, BodySize body,
                          std::optional<std::uint64_t> declared = {}) {
    HpackEncoder encoder;
    std::string out;
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    head.declared_length = declared;
    head.fields.add("Connection", "close");
    head.fields.add("Content-Length", "99");
    write_response(encoder, head, out);
    return decoded(out);
  };
  EXPECT_EQ(written(200, {.kind = BodyKind::sized, .bytes = 5}), ":status=200 content-length=5 ");
  EXPECT_EQ(written(200, {.kind = BodyKind::streamed}), ":status=200 ");
  EXPECT_EQ(written(304, {}, 7), ":status=304 content-length=7 ");
  EXPECT_EQ(written(204, {}, 7), ":status=204 ");
  EXPECT_EQ(written(103, {}), ":status=103 ");
  EXPECT_EQ(written(101, {.kind = BodyKind::tunnel}), ":status=200 ");
}

}  // namespace
}  // namespace titanium::http2
