// SPDX-License-Identifier: MIT
#include "proxy/origin/http2_origin_connection.h"

#include <gmock/gmock.h>

#include "unit/proxy/http2_fixture.h"

namespace titanium::proxy::testing {
namespace {

namespace frames = http2::test;
using frames::kEnd;
using http2::ErrorCode;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::Not;
using ::testing::StartsWith;

using Http2OriginConnectionTest = Http2ProxyTest;

// The direction that was kept open for the tunnel has nothing to carry any more.
TEST_F(Http2OriginConnectionTest, EndsTheStreamOfAWebSocketThatWasRefused) {
  start();
  const auto client = connect_http2();
  client->send(websocket(1));
  const auto origin = accept_http2({{kExtendedConnect, 1}});
  EXPECT_FALSE(wait_for(*origin, "HEADERS 1").starts_with("HEADERS 1 END"));
  origin->send(respond(1, "403") + frames::data(1, "no", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), StartsWith("HEADERS 1 :status=403"));
  EXPECT_EQ(wait_for(*client, "DATA 1 END"), "DATA 1 END no");
  client->send(frames::data(1, "", kEnd));
  EXPECT_EQ(wait_for(*origin, "DATA 1 END"), "DATA 1 END ");
}

// RFC 9113 §8.1: "enough of this request". The response, which was kept for a slow client, is
// whole, and the client is not left to send a body that nobody takes.
TEST_F(Http2OriginConnectionTest, PassesOnAResetBehindAKeptResponse) {
  constexpr std::size_t kBody = 200'000;  // More than is queued for a client that does not read.
  options().http2.stream_window_bytes = 2 * 1024 * 1024;
  start();
  const auto client = connect_http2({{kInitialWindow, 0}});
  client->send(frames::post(1));
  const auto origin = accept_http2();
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "200") + zeros(1, kBody, kEnd));
  wait_for(*client, "HEADERS 1");
  pump();
  client->send(frames::window_update(1, kWideWindow) + frames::window_update(0, kWideWindow));
  wait_for(*client, "DATA 1 END");
  EXPECT_EQ(client->socket().receive(), "");
  origin->send(frames::rst_stream(1, ErrorCode::no_error));
  pump();
  const std::string upload = zeros(1, 80 * 16'384);  // Beyond what is read for nothing.
  for (std::size_t sent = 0; sent < upload.size();) {
    sent += client->socket().send_some(std::string_view(upload).substr(sent));
    pump();
  }
  EXPECT_EQ(wait_for(*client, "RST_STREAM 1"), "RST_STREAM 1 NO_ERROR");
  EXPECT_EQ(worker().chunks().live(), 0U);
}

// The exchange goes on, for its request does, and its client is slow once more after the end.
TEST_F(Http2OriginConnectionTest, TellsTheEndOfAKeptResponseOnce) {
  options().http2.stream_window_bytes = 1024 * 1024;
  start(/*send_buffer=*/16 * 1024);
  const auto client = connect_client(/*receive_buffer=*/16 * 1024);
  client->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  const auto origin = accept_http2();
  wait_for(*origin, "DATA 1");
  origin->send(respond(1, "200") + zeros(1, 600'000, kEnd));
  pump();
  std::string answer = receive_until(*client, "\r\n0\r\n\r\n");
  client->send("67890");
  wait_for(*origin, "DATA 1 END");
  pump();
  answer += client->receive();
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked"));
  const std::size_t end = answer.find("\r\n0\r\n\r\n");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(answer.substr(end), "\r\n0\r\n\r\n");
}

// The exchange is over, but the rest of its request waits for a window of the origin.
TEST_F(Http2OriginConnectionTest, GivesUpWhatTheOriginDoesNotTakeAfterItsResponse) {
  options().timeouts.idle = net::Duration(150);
  start();
  const auto client = connect_http2();
  client->send(frames::post(1));
  const auto origin = accept_http2({{kInitialWindow, 0}});
  wait_for(*origin, "HEADERS 1");
  client->send(frames::data(1, "nobody wants this", kEnd));
  pump();
  origin->send(respond(1, "200") + frames::data(1, "ok", kEnd));
  EXPECT_EQ(wait_for(*client, "DATA 1 END"), "DATA 1 END ok");
  EXPECT_EQ(wait_for(*origin, "RST_STREAM 1"), "RST_STREAM 1 CANCEL");
}

// ---- What an origin leaves untouched (RFC 9113 §8.7)

struct Left {
  std::string_view name;
  bool goaway;  // Else REFUSED_STREAM.
  bool body;    // A POST with one; else a GET.
  bool used;    // The connection has carried a request before.
};

class LeftByAnOrigin : public Http2OriginConnectionTest,
                       public ::testing::WithParamInterface<Left> {
 protected:
  static std::string request(std::uint32_t id, bool body) {
    if (!body) return frames::get(id, "/left");
    return frames::post(id, "/left") + frames::data(id, "hello", kEnd);
  }
  static std::string leave(std::uint32_t id, bool goaway) {
    return goaway ? frames::goaway(id - 1, ErrorCode::no_error)
                  : frames::rst_stream(id, ErrorCode::refused_stream);
  }
  // Sends the request on a client's stream, and leaves it; returns the stream's id.
  void ask_and_leave() {
    client_ = connect_http2();
    if (GetParam().used)
      client_->send(frames::get(id_));
    else
      client_->send(request(id_, GetParam().body));
    origin_ = accept_http2();
    wait_for(*origin_, "HEADERS 1");
    if (GetParam().used) {
      origin_->send(respond(1, "200", kEnd));
      wait_for(*client_, "HEADERS 1");
      id_ = 3;
      client_->send(request(id_, GetParam().body));
      wait_for(*origin_, "HEADERS 3");
    }
    if (GetParam().body) wait_for(*origin_, "DATA " + std::to_string(id_) + " END hello");
    origin_->send(leave(id_, GetParam().goaway));
  }
  void expect_answer_from(Http2Peer& origin, std::uint32_t id) {
    const std::string stream = std::to_string(id);
    EXPECT_THAT(wait_for(origin, "HEADERS " + stream), HasSubstr(":path=/left"));
    if (GetParam().body) wait_for(origin, "DATA " + stream + " END hello");
    origin.send(respond(id, "200", kEnd));
    EXPECT_THAT(wait_for(*client_, "HEADERS " + std::to_string(id_)), HasSubstr(":status=200"));
  }

  std::unique_ptr<Http2Peer> client_;
  std::unique_ptr<Http2Peer> origin_;
  std::uint32_t id_ = 1;
};

TEST_P(LeftByAnOrigin, IsForTheNextEndpointAndNoFailure) {
  add_endpoint();
  start();
  ask_and_leave();
  const auto next = accept_http2({}, 1);
  expect_answer_from(*next, 1);
  pump();
  EXPECT_THAT(verdicts(), Each(Field(&Verdict::outcome, Ne(Outcome::failed))));
  EXPECT_THAT(verdicts(), Contains(Verdict{.endpoint = 1, .outcome = Outcome::answered}));
}

TEST_P(LeftByAnOrigin, IsForTheSameEndpointIfThereIsNoOther) {
  start();
  ask_and_leave();
  if (GetParam().goaway) {
    const auto next = accept_http2();
    expect_answer_from(*next, 1);
  } else {
    expect_answer_from(*origin_, id_ + 2);  // The connection is as good as before.
  }
  pump();
  EXPECT_THAT(verdicts(), Each(Field(&Verdict::outcome, Ne(Outcome::failed))));
}

INSTANTIATE_TEST_SUITE_P(Http2OriginConnectionTest, LeftByAnOrigin,
                         ::testing::Values(Left{"GoawayGetFresh", true, false, false},
                                           Left{"GoawayGetUsed", true, false, true},
                                           Left{"GoawayPostFresh", true, true, false},
                                           Left{"GoawayPostUsed", true, true, true},
                                           Left{"RefusedGetFresh", false, false, false},
                                           Left{"RefusedGetUsed", false, false, true},
                                           Left{"RefusedPostFresh", false, true, false},
                                           Left{"RefusedPostUsed", false, true, true}),
                         [](const auto& of) { return std::string(of.param.name); });

// A stream that is reset says nothing of its connection, but something of the origin.
TEST_F(Http2OriginConnectionTest, AsksTheNextEndpointAfterAResetOnAUsedConnection) {
  add_endpoint();
  start();
  const auto client = connect_http2();
  client->send(frames::get(1));
  const auto origin = accept_http2();
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "200", kEnd));
  wait_for(*client, "HEADERS 1");
  client->send(frames::get(3));
  wait_for(*origin, "HEADERS 3");
  origin->send(frames::rst_stream(3, ErrorCode::internal_error));
  const auto next = accept_http2({}, 1);
  wait_for(*next, "HEADERS 1");
  next->send(respond(1, "200", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 3"), HasSubstr(":status=200"));
  pump();
  EXPECT_THAT(verdicts(), Contains(Verdict{.endpoint = 0, .outcome = Outcome::failed}));
}

// Refusing is no failure either where the request can not be sent again.
TEST_F(Http2OriginConnectionTest, BlamesNoOriginForRefusingWhatIsTooLargeToKeep) {
  start();
  const auto client = connect_http2();
  client->send(frames::post(1) + zeros(1, 70'000, kEnd));
  const auto origin = accept_http2({{kInitialWindow, kWideWindow}});
  origin->send(frames::window_update(0, kWideWindow));
  wait_for(*origin, "DATA 1 END");
  origin->send(frames::rst_stream(1, ErrorCode::refused_stream));
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), HasSubstr(":status=502"));
  pump();
  EXPECT_THAT(verdicts(), ElementsAre(Verdict{.endpoint = 0, .outcome = Outcome::unknown}));
}

// Small pieces between large ones of another stream, read into the same large chunks: what is kept
// of them, for an origin that takes none and for a retry, is not to hold those.
TEST_F(Http2OriginConnectionTest, KeepsSmallPiecesWithoutTheChunksTheyCameIn) {
  start();
  const auto client = connect_http2();
  client->send(frames::post(1));
  const auto origin = accept_http2({{kInitialWindow, 0}});
  origin->send(frames::window_update(0, kWideWindow));
  wait_for(*origin, "HEADERS 1");
  origin->send(frames::window_update(1, kWideWindow));
  client->send(frames::post(3));
  wait_for(*origin, "HEADERS 3");
  constexpr int kPieces = 100;
  constexpr std::size_t kPieceBytes = 1'100;
  for (int i = 0; i < kPieces; ++i) {
    client->send(zeros(1, 15'000) + zeros(3, kPieceBytes));
    if (i % 10 == 9) {
      pump();
      origin->read();
    }
  }
  pump();
  // Twice, as they wait to be sent and to be sent again.
  EXPECT_LE(worker().chunks().live(), 2 * (kPieces * kPieceBytes / ChunkPool::kChunkBytes + 2));
}

// What all exchanges together keep for a retry is bounded; the others go on without.
TEST_F(Http2OriginConnectionTest, KeepsOnlySoMuchForRetries) {
  start();
  std::size_t kept = 0;
  while (worker().keep_for_replay(1'000)) kept += 1'000;
  EXPECT_GE(kept, 8'000'000U);
  EXPECT_LE(kept, 9'000'000U);

  const auto client = connect_http2();
  client->send(frames::post(1, "/not-kept") + zeros(1, 1'000, kEnd));
  const auto origin = accept_http2();
  wait_for(*origin, "DATA 1 END");
  worker().forget_replay(kept);
  client->send(frames::post(3, "/kept") + zeros(3, 1'000, kEnd));
  wait_for(*origin, "DATA 3 END");
  origin->send(frames::rst_stream(1, ErrorCode::refused_stream) +
               frames::rst_stream(3, ErrorCode::refused_stream));
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), HasSubstr(":status=502"));
  EXPECT_THAT(wait_for(*origin, "HEADERS 5"), HasSubstr(":path=/kept"));
  origin->send(respond(5, "204", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 3"), HasSubstr(":status=204"));
}

// An upload that its origin does not read fills everything on the way. A POST behind it is known to
// be unsent when the connection breaks; of the upload that can not be said.
TEST_F(Http2OriginConnectionTest, SendsAgainWhatNeverLeftForTheNetwork) {
  set_origin_receive_buffer(16'384);
  start();
  const auto client = connect_http2();
  client->send(frames::get(1));
  const auto origin = accept_http2({{kInitialWindow, kWideWindow}});
  origin->send(frames::window_update(0, kWideWindow));
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "204", kEnd));
  wait_for(*client, "HEADERS 1");

  const auto large = connect_client();
  large->send("POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
  wait_for(*origin, "HEADERS 3");
  const std::string block(64 * 1024, 'x');
  std::size_t sent = 0;
  for (int stalled = 0; stalled < 20;) {
    const std::size_t taken = large->send_some(block);
    stalled = taken == 0 ? stalled + 1 : 0;
    sent += taken;
    pump();
    ASSERT_LT(sent, 100'000'000U) << "nothing ever stopped the client";
  }
  client->send(frames::post(3, "/small") + frames::data(3, "hello", kEnd));
  pump();
  origin->socket().reset();

  const auto second = accept_http2();
  EXPECT_THAT(wait_for(*second, "HEADERS 1"), HasSubstr(":path=/small"));
  wait_for(*second, "DATA 1 END hello");
  second->send(respond(1, "204", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 3"), HasSubstr(":status=204"));
  EXPECT_THAT(receive_until(*large, "\r\n\r\n"), StartsWith("HTTP/1.1 502 "));
  EXPECT_FALSE(origin_has_connection());
}

// The other side of it: of this request some bytes have left.
TEST_F(Http2OriginConnectionTest, NeverSendsAPostTwiceThatTheOriginMayHaveBegunWith) {
  start();
  const auto client = connect_http2();
  client->send(frames::post(1) + frames::data(1, "hello", kEnd));
  const auto origin = accept_http2();
  wait_for(*origin, "DATA 1 END hello");
  origin->socket().reset();
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), HasSubstr(":status=502"));
  pump();
  EXPECT_FALSE(origin_has_connection());
}

}  // namespace
}  // namespace titanium::proxy::testing
