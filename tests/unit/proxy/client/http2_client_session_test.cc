// SPDX-License-Identifier: MIT
#include "proxy/client/http2_client_session.h"

#include <gmock/gmock.h>

#include "unit/proxy/http2_fixture.h"

namespace titanium::proxy::testing {
namespace {

namespace frames = http2::test;
using frames::kEnd;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Http2ClientSessionTest = Http2ProxyTest;

// RFC 6455 §4.1, RFC 8441 §5. Whatever comes behind such a 101 may not pass either.
TEST_F(Http2ClientSessionTest, TakesASwitchWithoutItsProofForAnErrorOfConnect) {
  struct Case {
    std::string_view name;
    std::string_view proof;
    std::string_view behind;
    bool ends;
  };
  constexpr std::string_view kWrong = "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n";
  const Case cases[] = {
      {"missing", "", "", false},
      {"wrong", kWrong, "", false},
      {"missing, bytes behind", "", "no WebSocket", false},
      {"wrong, bytes behind", kWrong, "no WebSocket", false},
      {"missing, and an end behind", "", "", true},
      {"wrong, bytes and an end behind", kWrong, "no WebSocket", true},
  };
  options().endpoints[0].protocol = OriginProtocol::http1;
  start();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto client = connect_http2();
    client->send(websocket(1));
    const auto origin = accept_origin();
    receive_until(*origin, "\r\n\r\n");
    origin->send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" +
        std::string(c.proof) + "\r\n" + std::string(c.behind));
    if (c.ends) origin->shutdown_write();
    wait_for(*client, "RST_STREAM 1");
    pump_until([&] {
      (void)origin->receive();
      return origin->ended() || origin->was_reset();
    });
    client->read();
    EXPECT_THAT(client->seen_of(1), ElementsAre("RST_STREAM 1 CONNECT_ERROR"));
  }
}

TEST_F(Http2ClientSessionTest, TellsATunnelThatItsClientHasNothingToSay) {
  start();
  const auto client = connect_http2();
  client->send(websocket(1, kEnd));
  const auto origin = accept_http2({{kExtendedConnect, 1}});
  const std::string request = wait_for(*origin, "HEADERS 1");
  EXPECT_THAT(request, HasSubstr(":protocol=websocket"));
  EXPECT_FALSE(request.starts_with("HEADERS 1 END"));
  origin->send(respond(1, "200"));
  wait_for(*origin, "DATA 1 END");
  // The other direction goes on.
  origin->send(frames::data(1, "bye", kEnd));
  EXPECT_EQ(wait_for(*client, "DATA 1"), "DATA 1 END bye");
}

TEST_F(Http2ClientSessionTest, KeepsTrailersUntilThereIsAnOrigin) {
  start();
  const auto client = connect_http2();
  // All of it is here before the connection to the origin is.
  client->send(frames::post(1) + frames::headers(1, {{"x-sum", "42"}}, frames::kWhole | kEnd));
  const auto origin = accept_http2();
  EXPECT_THAT(wait_for(*origin, "HEADERS 1 :method=POST"), HasSubstr(":path=/"));
  EXPECT_EQ(wait_for(*origin, "HEADERS 1"), "HEADERS 1 END x-sum=42");
  origin->send(respond(1, "204", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), StartsWith("HEADERS 1 END :status=204"));
}

// The client takes something all the time, but nothing of the last stream for many time-outs.
TEST_F(Http2ClientSessionTest, DoesNotTakeAStreamThatWaitsForItsTurnForAStalledReader) {
  constexpr std::uint32_t kLarge = 15;
  constexpr std::size_t kBody = 250'000;
  constexpr std::uint32_t kSmallId = 2 * kLarge + 1;
  options().timeouts.idle = net::Duration(100);
  start(/*send_buffer=*/16 * 1024);
  const auto client = connect_http2({{kInitialWindow, kWideWindow}}, /*receive_buffer=*/16 * 1024);
  client->send(frames::window_update(0, kWideWindow));
  auto lines = frames::get_lines();
  lines.emplace_back("priority", "u=0");
  const auto ask = [&](std::uint32_t id) {
    client->send(frames::headers(id, lines, frames::kWhole | kEnd));
  };
  ask(1);
  const auto origin = accept_http2();
  for (std::uint32_t id = 3; id < kSmallId; id += 2) ask(id);
  lines.back().second = "u=7";
  ask(kSmallId);
  for (std::uint32_t id = 1; id <= kSmallId; id += 2) {
    wait_for(*origin, "HEADERS " + std::to_string(id));
    origin->send(respond(id, "200"));
  }
  std::string bodies;
  for (std::uint32_t id = 1; id < kSmallId; id += 2) bodies += zeros(id, kBody, kEnd);
  bodies += frames::data(kSmallId, "small", kEnd);
  pump_until([&] {
    bodies.erase(0, origin->socket().send_some(bodies));
    return bodies.empty();
  });

  const auto until = net::Clock::now() + std::chrono::milliseconds(600);
  std::size_t taken = 0;
  while (net::Clock::now() < until) {  // It is time that is tested.
    taken += client->read_some(4096);
    worker().loop().run_once(net::Duration(5));
  }
  ASSERT_LT(taken, kLarge * kBody / 2) << "too fast for the last stream to wait";
  pump_until([&] {
    client->read();
    return client->take("DATA 31 END") != nullptr || client->take("RST_STREAM") != nullptr;
  });
  EXPECT_THAT(client->seen_of(kSmallId),
              ElementsAre(StartsWith("HEADERS 31 :status=200"), "DATA 31 END small"));
}

// As with HTTP/1: a conversation may be slow. Before the response the same client gets 408.
TEST_F(Http2ClientSessionTest, AsksForTheLeastRateOfABodyUntilTheResponseBegins) {
  options().timeouts.idle = net::Duration(1'000);  // The rate counts whole seconds.
  options().limits.request_body_bytes_per_second = 1'000'000;
  start();
  const auto client = connect_http2();
  client->send(frames::post(1, "/talk"));
  const auto origin = accept_http2();
  client->send(frames::post(3, "/silence"));
  wait_for(*origin, "HEADERS 3");
  origin->send(respond(1, "200"));
  wait_for(*client, "HEADERS 1");
  auto next_byte = net::Clock::now();
  pump_until([&] {
    if (net::Clock::now() >= next_byte) {
      client->send(frames::data(1, "x") + frames::data(3, "x"));
      next_byte += std::chrono::milliseconds(100);
    }
    client->read();
    return client->take("HEADERS 3") != nullptr;
  });
  EXPECT_THAT(client->seen_of(3), Contains(StartsWith("HEADERS 3 :status=408")));
  client->send(frames::data(1, "", kEnd));
  wait_for(*origin, "DATA 1 END");
  origin->send(frames::data(1, "heard", kEnd));
  EXPECT_EQ(wait_for(*client, "DATA 1"), "DATA 1 END heard");
}

// A watch: the client has asked, and listens with its side still open.
TEST_F(Http2ClientSessionTest, LetsAClientBeSilentWhileItsResponseGoesOn) {
  options().timeouts.idle = net::Duration(1'000);
  start();
  const auto client = connect_http2();
  client->send(frames::post(1, "/watch"));
  const auto origin = accept_http2();
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "200"));
  const auto end = net::Clock::now() + std::chrono::milliseconds(2'500);
  auto next_byte = net::Clock::now();
  pump_until([&] {
    if (net::Clock::now() >= next_byte) {
      origin->send(frames::data(1, "x"));
      next_byte += std::chrono::milliseconds(100);
    }
    client->read();
    return net::Clock::now() >= end || client->take("RST_STREAM 1") != nullptr;
  });
  client->send(frames::data(1, "", kEnd));
  wait_for(*origin, "DATA 1 END");
  origin->send(frames::data(1, "last", kEnd));
  EXPECT_EQ(wait_for(*client, "DATA 1 END"), "DATA 1 END last");
}

// RFC 8441 §5
TEST_F(Http2ClientSessionTest, TellsTheResetOfATunnelAsCancel) {
  start();
  const auto client = connect_http2();
  client->send(websocket(1));
  const auto origin = accept_http2({{kExtendedConnect, 1}});
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "200"));
  wait_for(*client, "HEADERS 1");
  origin->send(frames::rst_stream(1, http2::ErrorCode::internal_error));
  EXPECT_EQ(wait_for(*client, "RST_STREAM 1"), "RST_STREAM 1 CANCEL");
}

}  // namespace
}  // namespace titanium::proxy::testing
