// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "control/message.h"

namespace titanium::probe::control {
namespace {

TEST(ControlHead, PassesOnWhatIsNotHopByHop) {
  Head head;
  std::string out = "before ";
  ASSERT_EQ(parse_head("GET /a HTTP/1.1\r\nHost: x\r\nconnection: close\r\nKeep-Alive: 5\r\n"
                       "Proxy-Connection: x\r\nA: b\r\n\r\nbody",
                       false, head, out),
            HeadStatus::complete);
  EXPECT_EQ(out, "before GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n");
  EXPECT_EQ(head.bytes, 89);
  EXPECT_TRUE(head.close);
  EXPECT_FALSE(head.persistent());
}

TEST(ControlHead, IsIncompleteUntilTheEmptyLine) {
  const std::string_view text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    Head head;
    std::string out;
    EXPECT_EQ(parse_head(text.substr(0, cut), true, head, out), HeadStatus::incomplete);
    EXPECT_EQ(out, "");
  }
  Head head;
  std::string out;
  ASSERT_EQ(parse_head(text, true, head, out), HeadStatus::complete);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.content_length, 5);
}

TEST(ControlHead, KeepsUpgradeIfConnectionNamesIt) {
  Head head;
  std::string out;
  ASSERT_EQ(parse_head("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade"
                       "\r\n\r\n",
                       false, head, out),
            HeadStatus::complete);
  EXPECT_TRUE(head.upgrade);
  EXPECT_EQ(out, "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n");
  out.clear();
  ASSERT_EQ(parse_head("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", false, head, out),
            HeadStatus::complete);
  EXPECT_EQ(out, "GET / HTTP/1.1\r\n");
}

TEST(ControlHead, KnowsWhenAConnectionPersists) {
  struct Case {
    std::string_view request;
    bool persistent;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nConnection: CLOSE\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nConnection: x, close , y\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
  };
  for (const Case& row : cases) {
    Head head;
    std::string out;
    ASSERT_EQ(parse_head(row.request, false, head, out), HeadStatus::complete) << row.request;
    EXPECT_EQ(head.persistent(), row.persistent) << row.request;
  }
}

TEST(ControlHead, RefusesWhatItDoesNotUnderstand) {
  struct Case {
    std::string text;
    bool response;
  };
  const Case cases[] = {
      {"GET /\r\n\r\n", false},
      {"GET / HTTP/2\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", false},
      {"GET / HTTP/1.1\r\n: x\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", false},
      {"HTTP/1.1 xx OK\r\n\r\n", true},
      {"HTTP/1.1 99\r\n\r\n", true},
      {"nonsense\r\n\r\n", true},
      {std::string(kMaxHeadBytes + 1, 'a'), false},
  };
  for (const Case& row : cases) {
    Head head;
    std::string out;
    EXPECT_EQ(parse_head(row.text, row.response, head, out), HeadStatus::bad)
        << row.text.substr(0, 60);
    EXPECT_EQ(out, "");
  }
}

// Feeds `text` in two pieces, for every cut; returns how much was taken at most.
void expect_body(const Head& head, std::string_view body, std::string_view next) {
  const std::string text = std::string(body).append(next);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    BodyScanner scanner;
    scanner.start_request(head);
    const std::string_view first = std::string_view(text).substr(0, cut);
    std::size_t taken = scanner.take(first);
    EXPECT_EQ(taken, std::min(cut, body.size()));
    taken += scanner.take(std::string_view(text).substr(taken));
    EXPECT_EQ(taken, body.size()) << cut;
    EXPECT_TRUE(scanner.is_done());
  }
}

TEST(ControlBody, EndsWhereTheMessageDoes) {
  expect_body({}, "", "GET");
  expect_body({.content_length = 0}, "", "GET");
  expect_body({.content_length = 5}, "hello", "GET");
  const Head chunked{.chunked = true};
  expect_body(chunked, "0\r\n\r\n", "GET");
  expect_body(chunked, "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", "GET");
  expect_body(chunked, "1\r\nx\r\n0\r\nTrailer: a\r\nB: c\r\n\r\n", "5\r\n");
}

TEST(ControlBody, OfAResponseDependsOnTheRequestAndTheStatus) {
  struct Case {
    Head head;
    bool to_head;
    bool done;
    bool until_close;
  };
  const Case cases[] = {
      {{.status = 200}, false, false, true},
      {{.status = 200, .content_length = 0}, false, true, false},
      {{.status = 200, .content_length = 5}, true, true, false},
      {{.status = 204}, false, true, false},
      {{.status = 304, .content_length = 5}, false, true, false},
      {{.status = 200, .chunked = true}, false, false, false},
  };
  for (const Case& row : cases) {
    BodyScanner scanner;
    scanner.start_response(row.head, row.to_head);
    EXPECT_EQ(scanner.is_done(), row.done);
    EXPECT_EQ(scanner.ends_with_connection(), row.until_close);
  }
}

TEST(ControlBody, RefusesChunksThatAreNone) {
  for (const std::string_view text : {"x\r\n", "\r\n", "fffffffffffffffff\r\n"}) {
    BodyScanner scanner;
    scanner.start_request({.chunked = true});
    (void)scanner.take(text);
    EXPECT_TRUE(scanner.is_bad()) << text;
  }
}

}  // namespace
}  // namespace titanium::probe::control
