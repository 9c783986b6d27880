// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "load_support.h"
#include "origin/http1_session.h"

namespace titanium::probe {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::OriginThread;
using testing::Peer;
using ::testing::StartsWith;
using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view kHost = " HTTP/1.1\r\nHost: a\r\n";

std::string get(std::string_view path, std::string_view fields = {}) {
  return fmt::format("GET {}{}{}\r\n", path, kHost, fields);
}
std::string post(std::string_view path, std::string_view fields, std::string_view body) {
  return fmt::format("POST {}{}{}\r\n{}", path, kHost, fields, body);
}
std::string body_of_pattern(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += pattern().substr(0, bytes - text.size());
  return text;
}

class Http1OriginSessionTest : public ::testing::Test {
 protected:
  OriginThread origin;
  Peer peer = Peer::connect(origin.port());
};

TEST_F(Http1OriginSessionTest, AnswersTheTinyJsonAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    peer.send(get("/"));
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Content-Length: 57\r\n"));
    EXPECT_EQ(peer.read_exactly(57), kTinyJson);
  }
}

TEST_F(Http1OriginSessionTest, TakesARequestInPieces) {
  for (const char byte : get("/")) peer.send({&byte, 1});
  EXPECT_THAT(peer.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Http1OriginSessionTest, AnswersPipelinedRequestsInOrder) {
  // Answers far beyond what sockets hold, all of them asked for before the first is read.
  const std::size_t sizes[] = {3'000'000, 1, 2'000'000, 0, 500'000};
  std::string requests;
  for (const std::size_t size : sizes) requests += get(fmt::format("/bytes/{}", size));
  peer.send(requests);
  for (const std::size_t size : sizes) {
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr(fmt::format("Length: {}\r\n", size)));
    EXPECT_TRUE(peer.read_exactly(size) == body_of_pattern(size)) << size;
  }
}

TEST_F(Http1OriginSessionTest, ClosesWhenAskedTo) {
  peer.send(get("/", "Connection: close\r\n"));
  const std::string answer = peer.read_all();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith(kTinyJson));
}

TEST_F(Http1OriginSessionTest, ServesHttp10OnceAConnection) {
  peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(peer.read_all(), EndsWith(kTinyJson));
}

TEST_F(Http1OriginSessionTest, AnswersWhatCameBeforeTheClientsEnd) {
  peer.send(get("/bytes/3000000"));
  peer.end();
  EXPECT_THAT(peer.read_all(), EndsWith(body_of_pattern(3'000'000)));
}

TEST_F(Http1OriginSessionTest, HeadHasNoBody) {
  peer.send(fmt::format("HEAD /bytes/5{}\r\nHEAD /{}Connection: close\r\n\r\n", kHost, kHost));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(peer.read_all(), EndsWith("Connection: close\r\n\r\n"));
}

TEST_F(Http1OriginSessionTest, CountsABodyAndAnswersTiny) {
  peer.send(post("/", "Content-Length: 5\r\n", "hello"));
  peer.read_until("\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(57), kTinyJson);
  peer.send(post("/bytes/9", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"));
  peer.read_until("\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(9), body_of_pattern(9));
}

TEST_F(Http1OriginSessionTest, WaitsForTheWholeBody) {
  peer.send(post("/", "Content-Length: 5\r\n", "hell"));
  timeval short_patience{.tv_sec = 0, .tv_usec = 50'000};
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_RCVTIMEO, &short_patience, sizeof short_patience);
  EXPECT_EQ(peer.read_exactly(1), "");
  short_patience.tv_sec = 10;
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_RCVTIMEO, &short_patience, sizeof short_patience);
  peer.send("o");
  EXPECT_THAT(peer.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http1OriginSessionTest, EchoesWhileTheBodyArrives) {
  peer.send(post("/echo", "Content-Length: 10\r\n", "hello"));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Content-Length: 10\r\n"));
  EXPECT_EQ(peer.read_exactly(5), "hello");
  peer.send("world");
  EXPECT_EQ(peer.read_exactly(5), "world");
}

TEST_F(Http1OriginSessionTest, EchoesChunks) {
  peer.send(post("/echo", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n"));
  peer.read_until("\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(10), "5\r\nhello\r\n");
  peer.send("0\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(5), "0\r\n\r\n");
}

TEST_F(Http1OriginSessionTest, EchoesMoreThanItHolds) {
  const std::string body = body_of_pattern(8'000'000);
  std::jthread sender([&] { peer.send(post("/echo", "Content-Length: 8000000\r\n", body)); });
  peer.read_until("\r\n\r\n");
  EXPECT_TRUE(peer.read_exactly(body.size()) == body);
}

TEST_F(Http1OriginSessionTest, AnswersEarlyAndReadsOn) {
  peer.send(post("/early/4", "Content-Length: 10\r\n", "hell"));
  peer.read_until("\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(57), kTinyJson);
  peer.send("o worl" + get("/bytes/3"));
  peer.read_until("\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(3), body_of_pattern(3));
}

TEST_F(Http1OriginSessionTest, AnswersABodyThatIsShorterThanTheEarlyMark) {
  peer.send(post("/early/100", "Content-Length: 1\r\n", "x"));
  EXPECT_THAT(peer.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http1OriginSessionTest, SaysContinueWhenAClientWaitsForIt) {
  peer.send(post("/", "Content-Length: 1\r\nExpect: 100-continue\r\n", ""));
  EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("x");
  EXPECT_THAT(peer.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http1OriginSessionTest, RefusesWhatItDoesNotKnow) {
  struct Case {
    std::string request;
    std::string_view status;
  };
  const Case cases[] = {
      {get("/nothing"), "404 Not Found"},
      {"nonsense\r\n\r\n", "400 Bad Request"},
      {post("/", "Transfer-Encoding: chunked\r\n", "x\r\n"), "400 Bad Request"},
      {get("/ws"), "400 Bad Request"},
      {"GET /" + std::string(300'000, 'a') + " HTTP/1.1\r\n", "400 Bad Request"},
  };
  for (const Case& row : cases) {
    Peer other = Peer::connect(origin.port());
    other.send(row.request);
    EXPECT_THAT(other.read_until("\r\n"), StartsWith(fmt::format("HTTP/1.1 {}", row.status)));
    other.read_until("\r\n\r\n");
    EXPECT_EQ(other.read_all(), "");  // And closes.
  }
}

std::string upgrade() {
  return get("/ws",
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
}

// The masked "Hello" of RFC 6455 §5.7 as another kind of frame.
std::string masked_hello(char first) { return first + "\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"s; }

TEST_F(Http1OriginSessionTest, EchoesMessagesAndAnswersControlFrames) {
  // The first message comes together with the request, as no client may, and no byte is lost.
  peer.send(upgrade() + masked_hello('\x81'));
  EXPECT_THAT(peer.read_until("\r\n\r\n"),
              HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_EQ(peer.read_exactly(7), "\x81\x05Hello");
  peer.send(masked_hello('\x89'));
  EXPECT_EQ(peer.read_exactly(7), "\x8a\x05Hello");
  peer.send(masked_hello('\x8a') + masked_hello('\x88'));  // A pong gets no answer.
  EXPECT_EQ(peer.read_all(), "\x88\x05Hello");
}

TEST_F(Http1OriginSessionTest, TakesFramesCutAnywhere) {
  peer.send(upgrade());
  peer.read_until("\r\n\r\n");
  for (const char byte : masked_hello('\x01') + masked_hello('\x89') + masked_hello('\x80')) {
    peer.send({&byte, 1});
  }
  EXPECT_EQ(peer.read_exactly(21), "\x01\x05Hello\x8a\x05Hello\x80\x05Hello"sv);
}

TEST_F(Http1OriginSessionTest, ClosesOnAFrameWithoutMask) {
  peer.send(upgrade());
  peer.read_until("\r\n\r\n");
  peer.send("\x81\x05Hello");
  EXPECT_EQ(peer.read_all(), "");
}

}  // namespace
}  // namespace titanium::probe
