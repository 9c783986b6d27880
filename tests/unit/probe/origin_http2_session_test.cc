// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "http2_support.h"
#include "origin/grpc.h"
#include "origin/http2_session.h"

namespace titanium::probe {
namespace {

using http2::FrameType;
using testing::data;
using testing::Frame;
using testing::FramePeer;
using ::testing::HasSubstr;
using testing::headers;
using ::testing::Not;
using testing::OriginThread;
using testing::Peer;
using testing::settings_frame;
using ::testing::StartsWith;
using namespace std::string_literals;

// What came back on a stream.
struct Answer {
  std::string head;
  std::string body;
  std::string trailers;
  bool ended = false;
};

std::string body_of_pattern(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += pattern().substr(0, bytes - text.size());
  return text;
}

class Http2OriginSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    peer.send(std::string(http2::kPreface));
    peer.send(settings_frame(testing::setting(http2::SettingId::initial_window_size, 1 << 24)));
    peer.send(testing::frame(FrameType::window_update, 0, 0, testing::u32_text(1 << 28)));
  }

  static std::string request(std::uint32_t id, std::string_view method, std::string_view path,
                             bool ended) {
    return headers(
        id, ended,
        {{":method", method}, {":scheme", "http"}, {":authority", "a"}, {":path", path}});
  }

  // Reads until the stream has ended, or `bytes` of its body are here.
  Answer answer(std::uint32_t id, std::size_t bytes = SIZE_MAX) {
    Answer got;
    Frame frame;
    while (!got.ended && got.body.size() < bytes && frames.read(frame)) {
      if (frame.header.stream_id != id) continue;
      if (frame.is(FrameType::headers))
        (got.head.empty() ? got.head : got.trailers) = frames.lines_of(frame);
      if (frame.is(FrameType::data)) got.body += frame.payload;
      got.ended = frame.ends_stream();
    }
    return got;
  }

  OriginThread origin;
  std::atomic<std::size_t> allowed_ = 1024 * 1024;  // By the window of stream 1.
  Peer peer = Peer::connect(origin.port());
  FramePeer frames{peer};
};

TEST_F(Http2OriginSessionTest, AnswersTheTinyJsonAgainAndAgain) {
  for (const std::uint32_t id : {1U, 3U, 5U}) {
    peer.send(request(id, "GET", "/", true));
    const Answer got = answer(id);
    EXPECT_THAT(got.head, StartsWith(":status: 200\n"));
    EXPECT_THAT(got.head, HasSubstr("content-type: application/json\n"));
    EXPECT_THAT(got.head, HasSubstr("content-length: 57\n"));
    EXPECT_THAT(got.head, HasSubstr("date: "));
    EXPECT_EQ(got.body, kTinyJson);
    EXPECT_TRUE(got.ended);
  }
}

TEST_F(Http2OriginSessionTest, AnswersBodiesOfEverySize) {
  std::uint32_t id = 1;
  for (const std::size_t bytes : {0UL, 1UL, 65'536UL, 3'000'000UL}) {
    peer.send(request(id, "GET", fmt::format("/bytes/{}", bytes), true));
    const Answer got = answer(id);
    EXPECT_THAT(got.head, HasSubstr(fmt::format("content-length: {}\n", bytes)));
    EXPECT_TRUE(got.body == body_of_pattern(bytes)) << bytes;
    EXPECT_TRUE(got.ended);
    id += 2;
  }
}

TEST_F(Http2OriginSessionTest, HeadHasNoBody) {
  peer.send(request(1, "HEAD", "/bytes/5", true));
  const Answer got = answer(1);
  EXPECT_THAT(got.head, StartsWith(":status: 200\n"));
  EXPECT_EQ(got.body, "");
  EXPECT_TRUE(got.ended);
}

TEST_F(Http2OriginSessionTest, AnswersWhenTheRequestIsComplete) {
  peer.send(request(1, "POST", "/bytes/9", false) + data(1, false, "hello"));
  peer.send(request(3, "GET", "/", true));
  EXPECT_TRUE(answer(3).ended);  // The one behind is answered first.
  peer.send(data(1, true, "world"));
  EXPECT_EQ(answer(1).body, body_of_pattern(9));
}

TEST_F(Http2OriginSessionTest, EchoesWhileTheBodyArrives) {
  peer.send(request(1, "POST", "/echo", false) + data(1, false, "hello"));
  EXPECT_EQ(answer(1, 5).body, "hello");
  peer.send(data(1, true, "world"));
  const Answer rest = answer(1);
  EXPECT_EQ(rest.body, "world");
  EXPECT_TRUE(rest.ended);
}

// A client that does not read its echo is stopped by its window, and goes on when it reads.
TEST_F(Http2OriginSessionTest, EchoesMoreThanItHolds) {
  constexpr std::size_t kPieces = 400;
  const std::string piece = body_of_pattern(16'000);
  std::jthread sender([&] {
    peer.send(request(1, "POST", "/echo", false));
    // The window is 1 MiB; what is beyond waits for the WINDOW_UPDATEs that the reader lets come.
    for (std::size_t i = 0; i < kPieces; ++i) {
      while (allowed_.load() < 16'000) std::this_thread::yield();
      allowed_ -= 16'000;
      peer.send(data(1, i + 1 == kPieces, piece));
    }
  });
  std::size_t received = 0;
  Frame frame;
  while (frames.read(frame)) {
    if (frame.is(FrameType::window_update) && frame.header.stream_id == 1) {
      std::uint32_t more = 0;
      for (const char byte : frame.payload) more = more << 8 | static_cast<std::uint8_t>(byte);
      allowed_ += more;
    }
    if (frame.is(FrameType::data)) received += frame.payload.size();
    if (frame.ends_stream()) break;
  }
  EXPECT_EQ(received, kPieces * piece.size());
}

TEST_F(Http2OriginSessionTest, AnswersEarlyAndReadsOn) {
  peer.send(request(1, "POST", "/early/4/70000", false) + data(1, false, "hell"));
  const Answer got = answer(1);
  EXPECT_THAT(got.head, HasSubstr("content-length: 70000\n"));
  EXPECT_TRUE(got.body == body_of_pattern(70'000));
  EXPECT_TRUE(got.ended);
  peer.send(data(1, true, "o world") + request(3, "POST", "/early/0", false));
  EXPECT_EQ(answer(3).body, kTinyJson);
}

TEST_F(Http2OriginSessionTest, AnswersEarlyToWhatCameWithThePreface) {
  Peer fresh = Peer::connect(origin.port());
  fresh.send(std::string(http2::kPreface) + settings_frame() +
             request(1, "POST", "/early/8192", false) + data(1, false, std::string(16'000, 'x')) +
             data(1, false, std::string(16'000, 'x')) + data(1, true, std::string(16'000, 'x')));
  FramePeer reader(fresh);
  Frame frame;
  std::string body;
  while (reader.read(frame) && !frame.ends_stream()) {
    ASSERT_FALSE(frame.is(FrameType::goaway)) << frame.payload;
  }
  EXPECT_EQ(frame.payload, kTinyJson);
}

TEST_F(Http2OriginSessionTest, EchoesAGrpcMessage) {
  const std::string message = make_grpc_message(300);
  peer.send(headers(1, false,
                    {{":method", "POST"},
                     {":scheme", "http"},
                     {":authority", "a"},
                     {":path", "/grpc.Echo/Unary"},
                     {"te", "trailers"},
                     {"content-type", "application/grpc"}}));
  peer.send(data(1, false, message.substr(0, 3)) + data(1, true, message.substr(3)));
  const Answer got = answer(1);
  EXPECT_THAT(got.head, HasSubstr("content-type: application/grpc\n"));
  EXPECT_THAT(got.head, Not(HasSubstr("content-length")));
  EXPECT_EQ(got.body, message);
  EXPECT_EQ(got.trailers, "grpc-status: 0\n");
}

TEST_F(Http2OriginSessionTest, SaysInItsTrailersThatAGrpcMessageIsBroken) {
  peer.send(request(1, "POST", "/grpc.Echo/Unary", false) + data(1, true, "\0\0\0\0\5abc"s));
  const Answer got = answer(1);
  EXPECT_EQ(got.body, "");
  EXPECT_EQ(got.trailers, "grpc-status: 13\n");
}

TEST_F(Http2OriginSessionTest, EchoesWebSocketFramesOverAnExtendedConnect) {
  peer.send(headers(1, false,
                    {{":method", "CONNECT"},
                     {":protocol", "websocket"},
                     {":scheme", "http"},
                     {":authority", "a"},
                     {":path", "/ws"},
                     {"sec-websocket-version", "13"}}));
  // "abc" under a mask of zeros, in pieces.
  peer.send(data(1, false, "\x82"s) + data(1, false, "\x83\0\0\0\0ab"s) + data(1, false, "c"));
  const Answer got = answer(1, 5);
  EXPECT_THAT(got.head, StartsWith(":status: 200\n"));
  EXPECT_EQ(got.body, "\x82\x03"s + "abc");
  peer.send(data(1, false, "\x88\x80\0\0\0\0"s));
  const Answer close = answer(1);
  EXPECT_EQ(close.body, "\x88\0"s);
  EXPECT_TRUE(close.ended);
}

TEST_F(Http2OriginSessionTest, ResetsAWebSocketThatBreaksTheRules) {
  peer.send(headers(1, false,
                    {{":method", "CONNECT"},
                     {":protocol", "websocket"},
                     {":scheme", "http"},
                     {":authority", "a"},
                     {":path", "/ws"}}));
  peer.send(data(1, false, "\x82\x03" + "abc"s));  // Not masked.
  Frame frame;
  ASSERT_TRUE(frames.read(FrameType::rst_stream, frame));
  peer.send(request(3, "GET", "/", true));
  EXPECT_EQ(answer(3).body, kTinyJson);
}

TEST_F(Http2OriginSessionTest, RefusesWhatItDoesNotKnow) {
  peer.send(request(1, "GET", "/nothing", true) + request(3, "GET", "/ws", true));
  EXPECT_THAT(answer(1).head, StartsWith(":status: 404\n"));
  EXPECT_THAT(answer(3).head, StartsWith(":status: 400\n"));
}

TEST_F(Http2OriginSessionTest, ForgetsAStreamThatIsReset) {
  peer.send(request(1, "POST", "/echo", false) + data(1, false, "x") +
            testing::frame(FrameType::rst_stream, 0, 1, testing::u32_text(8)));
  peer.send(request(3, "GET", "/", true));
  EXPECT_EQ(answer(3).body, kTinyJson);
}

TEST_F(Http2OriginSessionTest, SaysGoodbyeToWhoBreaksTheProtocol) {
  peer.send(data(0, false, "x"));
  Frame frame;
  ASSERT_TRUE(frames.read(FrameType::goaway, frame));
  EXPECT_EQ(peer.read_all(), "");
}

TEST_F(Http2OriginSessionTest, ServesHttp1OnTheSamePort) {
  Peer other = Peer::connect(origin.port());
  other.send("P");
  other.send("OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_THAT(other.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

}  // namespace
}  // namespace titanium::probe
