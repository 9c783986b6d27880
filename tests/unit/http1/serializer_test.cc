// SPDX-License-Identifier: MIT
#include "http1/serializer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

using http::BodyKind;
using http::Method;
using http::Version;
using test::contents;
using test::describe;
using test::parse_request;
using test::parse_response;
using test::write;

http::RequestHead get_head() {
  http::RequestHead head;
  head.method_text = "GET";
  head.scheme = "http";
  head.authority = "h";
  head.path = "/";
  return head;
}

TEST(RequestHead, IsWrittenFromItsMembersNotFromFramingFields) {
  http::RequestHead head = get_head();
  for (const std::string_view name :
       {"Host", "Connection", "Content-Length", "Transfer-Encoding", "TE", "Upgrade", "Keep-Alive",
        "Proxy-Connection", "HTTP2-Settings", "Expect"}) {
    head.fields.add(name, "evil");
  }
  head.fields.add("X-Kept", "1");
  EXPECT_EQ(write(head), "GET / HTTP/1.1\r\nHost: h\r\nX-Kept: 1\r\n\r\n");
}

TEST(RequestHead, SaysWhatItsMembersAskFor) {
  struct Case {
    std::string_view name;
    void (*change)(http::RequestHead&);
    std::string_view expected;
  };
  const Case cases[] = {
      {"length", [](auto& h) { h.body = {.kind = BodyKind::sized, .bytes = 12}; },
       "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n"},
      {"length zero", [](auto& h) { h.body = {.kind = BodyKind::sized}; },
       "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"},
      {"streamed", [](auto& h) { h.body = {.kind = BodyKind::streamed}; },
       "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"upgrade", [](auto& h) { h.upgrade = "websocket"; },
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"},
      {"trailers", [](auto& h) { h.accepts_trailers = true; },
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: TE\r\nTE: trailers\r\n\r\n"},
      {"upgrade and trailers", [](auto& h) { h.upgrade = "a", h.accepts_trailers = true; },
       "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, TE\r\nTE: trailers\r\nUpgrade: "
       "a\r\n\r\n"},
      {"expectation",
       [](auto& h) { h.expects_continue = true, h.body = {.kind = BodyKind::streamed}; },
       "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"from an HTTP/1.0 client without Host",
       [](auto& h) { h.version = Version::http10, h.authority = {}; },
       "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
      {"CONNECT",
       [](auto& h) {
         h.method = Method::connect, h.method_text = "CONNECT", h.path = {};
         h.authority = "h:443", h.body = {.kind = BodyKind::tunnel};
       },
       "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n"},
      {"asterisk", [](auto& h) { h.method_text = "OPTIONS", h.path = "*"; },
       "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    http::RequestHead head = get_head();
    c.change(head);
    EXPECT_EQ(write(head), c.expected);
  }
}

TEST(RequestHead, IsParsedAsWhatWasWritten) {
  const std::string_view heads[] = {
      "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET http://h:81/a?b HTTP/1.1\r\nHost: h:81\r\nA: b\r\n\r\n",
      "POST / HTTP/1.1\r\nA: 1\r\nHost: h\r\nB:2\r\nC:  3 \r\nContent-Length: 7\r\nD: 4\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n",
      "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, TE\r\nUpgrade: websocket\r\nTE: "
      "trailers\r\n\r\n",
      "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nA: b\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.0\r\nHost: h\r\nA: \r\n\r\n",
  };
  for (const std::string_view text : heads) {
    auto first = parse_request(text);
    ASSERT_TRUE(first.length.has_value()) << text;
    const std::string written = write(first.head);
    auto second = parse_request(written);
    ASSERT_TRUE(second.length.has_value()) << written;
    EXPECT_EQ(*second.length, written.size());
    first.head.version = Version::http11;  // We always speak 1.1.
    EXPECT_EQ(describe(second.head), describe(first.head));
    EXPECT_EQ(second.info.framing, first.info.framing);
    for (auto* fields : {&first.head.fields, &second.head.fields}) {
      // Host goes first and the others last.
      for (const auto known :
           {http::KnownField::host, http::KnownField::content_length,
            http::KnownField::transfer_encoding, http::KnownField::te, http::KnownField::connection,
            http::KnownField::upgrade, http::KnownField::expect}) {
        fields->drop(known);
      }
    }
    EXPECT_EQ(describe(second.head.fields), describe(first.head.fields));
    EXPECT_EQ(write(second.head), written);
  }
}

TEST(RequestHead, SkipsDroppedFieldsWithinRunsOfUntouchedLines) {
  auto parsed = parse_request(
      "GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nHost: h\r\nC: 3\r\nD:4\r\nE: 5\r\nF: 6\r\n\r\n");
  ASSERT_TRUE(parsed.length.has_value());
  parsed.head.fields.drop("e");
  parsed.head.fields.add("Via", "1.1 titanium");
  EXPECT_EQ(write(parsed.head),
            "GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nF: 6\r\n"
            "Via: 1.1 titanium\r\n\r\n");
}

TEST(RequestHead, MayBeLargerThanAChunk) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 200; ++i)
    text += "Name-" + std::to_string(i) + ": " + std::string(300, 'v') + "\r\n";
  text += "\r\n";
  const auto parsed = parse_request(text);
  ASSERT_TRUE(parsed.length.has_value());
  EXPECT_EQ(write(parsed.head), text);
}

// Heads may come from HTTP/2 or from a filter. A control byte in one is our own fault: debug builds
// stop there, and release builds leave the text out.
TEST(RequestHead, NeverCarriesAControlByte) {
  const auto with = [](void (*change)(http::RequestHead&)) {
    http::RequestHead head = get_head();
    change(head);
    return write(head);
  };
  void (*const changes[])(http::RequestHead&) = {
      [](auto& h) { h.fields.add("A", "b\r\nEvil: 1"); },
      [](auto& h) { h.fields.add("A", std::string_view("b\0", 2)); },
      [](auto& h) { h.fields.add("A\r\nEvil", "1"); },
      [](auto& h) { h.fields.add("A ", "1"); },
      [](auto& h) { h.fields.add("", "1"); },
      [](auto& h) { h.path = "/ HTTP/1.1\r\nEvil: 1"; },
      [](auto& h) { h.authority = "h\r\nEvil: 1"; },
      [](auto& h) { h.method_text = "GET /\r\n"; },
      [](auto& h) { h.upgrade = "a\r\nEvil: 1"; },
  };
  for (const auto change : changes) {
#ifdef NDEBUG
    EXPECT_EQ(with(change).find("Evil"), std::string::npos);
    EXPECT_EQ(with(change).find('\0'), std::string::npos);
#else
    EXPECT_DEATH(with(change), "control byte|cannot be written");
#endif
  }
}

TEST(ResponseHead, SaysWhatItsMembersAskFor) {
  struct Case {
    std::string_view name;
    void (*change)(http::ResponseHead&);
    std::string_view expected;
    Framing framing;
    Version client = Version::http11;
    AfterResponse after = AfterResponse::keep_alive;
  };
  const Case cases[] = {
      {"length", [](auto& h) { h.body = {.kind = BodyKind::sized, .bytes = 3}; },
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", Framing::fixed},
      {"streamed", [](auto& h) { h.body = {.kind = BodyKind::streamed}; },
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Framing::chunked},
      {"streamed to a 1.0 client", [](auto& h) { h.body = {.kind = BodyKind::streamed}; },
       "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", Framing::until_close, Version::http10,
       AfterResponse::close},
      {"kept alive for a 1.0 client",
       [](auto& h) { h.body = {.kind = BodyKind::sized, .bytes = 3}; },
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n", Framing::fixed,
       Version::http10, AfterResponse::keep_alive_http10},
      {"answer to HEAD", [](auto& h) { h.declared_length = 5; },
       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Framing::none},
      {"304", [](auto& h) { h.status = 304, h.declared_length = 5; },
       "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Framing::none},
      {"204 with a length", [](auto& h) { h.status = 204, h.declared_length = 5; },
       "HTTP/1.1 204 No Content\r\n\r\n", Framing::none},
      {"204 with a body", [](auto& h) { h.status = 204, h.body = {BodyKind::sized, 5}; },
       "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", Framing::none, Version::http11,
       AfterResponse::close},
      {"304 with a body", [](auto& h) { h.status = 304, h.body = {BodyKind::streamed, 0}; },
       "HTTP/1.1 304 Not Modified\r\n\r\n", Framing::none},
      {"interim", [](auto& h) { h.status = 103, h.body = {BodyKind::sized, 5}; },
       "HTTP/1.1 103 Early Hints\r\n\r\n", Framing::none, Version::http11, AfterResponse::close},
      {"101",
       [](auto& h) { h.status = 101, h.upgrade = "websocket", h.body = {BodyKind::tunnel, 0}; },
       "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
       Framing::tunnel},
      {"success of CONNECT", [](auto& h) { h.body = {BodyKind::tunnel, 0}; },
       "HTTP/1.1 200 OK\r\n\r\n", Framing::tunnel},
      {"reason", [](auto& h) { h.reason = "Fine \xc3\xa9", h.body = {BodyKind::sized, 0}; },
       "HTTP/1.1 200 Fine \xc3\xa9\r\nContent-Length: 0\r\n\r\n", Framing::fixed},
      {"unknown status", [](auto& h) { h.status = 299, h.body = {BodyKind::sized, 0}; },
       "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n", Framing::fixed},
      {"fields",
       [](auto& h) {
         h.body = {BodyKind::sized, 0};
         for (const auto name :
              {"Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "A"}) {
           h.fields.add(name, "x");
         }
       },
       "HTTP/1.1 200 OK\r\nA: x\r\nContent-Length: 0\r\n\r\n", Framing::fixed},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    http::ResponseHead head;
    head.status = 200;
    c.change(head);
    ChunkPool pool;
    ChunkQueue queue(pool);
    EXPECT_EQ(write_response_head(queue, head, c.client, c.after), c.framing);
    EXPECT_EQ(contents(queue), c.expected);
  }
}

TEST(ResponseHead, IsParsedAsWhatWasWritten) {
  struct Case {
    Method method;
    std::string_view text;
  };
  const Case cases[] = {
      {Method::get, "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\nC: d\r\n\r\n"},
      {Method::get, "HTTP/1.1 500 Oh no\r\nTransfer-Encoding: chunked\r\nA: b\r\nB:c\r\n\r\n"},
      {Method::head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
      {Method::get, "HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 5\r\n\r\n"},
      {Method::get, "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"},
      {Method::connect, "HTTP/1.1 200 OK\r\n\r\n"},
      {Method::connect, "HTTP/1.1 204 No Content\r\n\r\n"},
      {Method::get, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
      {Method::get, "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n"},
  };
  for (const auto& c : cases) {
    auto first = parse_response(c.text, c.method);
    ASSERT_TRUE(first.length.has_value()) << c.text;
    const std::string written = write(first.head);
    auto second = parse_response(written, c.method);
    ASSERT_TRUE(second.length.has_value()) << written;
    EXPECT_EQ(describe(second.head), describe(first.head));
    EXPECT_EQ(second.info.framing, first.info.framing);
    EXPECT_EQ(write(second.head), written);
  }
}

TEST(Chunks, CarryAnySizeOfData) {
  for (const std::size_t size : {1u, 15u, 1024u, 1025u, 20'000u, 100'000u}) {
    ChunkPool pool;
    ChunkQueue out(pool);
    ChunkQueue data(pool);
    const std::string text(size, 'x');
    data.append(text);
    write_chunk(out, data);
    EXPECT_TRUE(data.empty());
    EXPECT_EQ(contents(out), fmt::format("{:x}\r\n{}\r\n", size, text));
  }
}

TEST(Chunks, DoNotEndABodyByAccident) {
  ChunkPool pool;
  ChunkQueue out(pool);
  ChunkQueue data(pool);
  write_chunk(out, data);
  EXPECT_TRUE(out.empty());
}

TEST(LastChunk, CarriesTheTrailersThatMayPass) {
  ChunkPool pool;
  ChunkQueue out(pool);
  http::FieldList trailers;
  trailers.add("A", "b");
  trailers.add("Gone", "c");
  trailers.add("Content-Length", "5");
  trailers.drop("gone");
  write_last_chunk(out, trailers);
  EXPECT_EQ(contents(out), "0\r\nA: b\r\n\r\n");
}

TEST(LastChunk, IsShortWithoutTrailers) {
  ChunkPool pool;
  ChunkQueue out(pool);
  write_last_chunk(out, {});
  EXPECT_EQ(contents(out), "0\r\n\r\n");
}

}  // namespace
}  // namespace titanium::http1
