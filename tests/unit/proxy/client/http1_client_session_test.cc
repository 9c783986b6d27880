// SPDX-License-Identifier: MIT
#include "proxy/client/http1_client_session.h"

#include <gmock/gmock.h>

#include "unit/proxy/http2_fixture.h"

namespace titanium::proxy::testing {
namespace {

namespace frames = http2::test;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The key of RFC 6455 §1.3, which gives the answer to it as well.
constexpr std::string_view kUpgrade =
    "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

using Http1ClientSessionTest = Http2ProxyTest;

TEST_F(Http1ClientSessionTest, AnswersTheWebSocketKeyThatAnOriginOfHttp2WasNotSent) {
  start();
  const auto client = connect_client();
  client->send(kUpgrade);
  const auto origin = accept_http2({{kExtendedConnect, 1}});
  EXPECT_THAT(wait_for(*origin, "HEADERS 1"), Not(HasSubstr("sec-websocket-key")));
  origin->send(respond(1, "200"));
  const std::string answer = receive_until(*client, "\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(answer, HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
}

// An origin of HTTP/1 was sent the key: it is for the client to judge what it makes of it.
TEST_F(Http1ClientSessionTest, ProvesNothingOnBehalfOfAnOriginOfHttp1) {
  options().endpoints[0].protocol = OriginProtocol::http1;
  start();
  const auto client = connect_client();
  client->send(kUpgrade);
  const auto origin = accept_origin();
  EXPECT_THAT(receive_until(*origin, "\r\n\r\n"), HasSubstr("dGhlIHNhbXBsZSBub25jZQ=="));
  origin->send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  const std::string answer = receive_until(*client, "\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(answer, Not(HasSubstr("Sec-WebSocket-Accept")));
}

TEST_F(Http1ClientSessionTest, LetsAClientBeSilentWhileItsResponseGoesOn) {
  options().endpoints[0].protocol = OriginProtocol::http1;
  options().timeouts.idle = net::Duration(1'000);
  start();
  const auto client = connect_client();
  client->send("POST /watch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
  const auto origin = accept_origin();
  receive_until(*origin, "1\r\nx\r\n");
  origin->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto end = net::Clock::now() + std::chrono::milliseconds(2'500);
  auto next_byte = net::Clock::now();
  pump_until([&] {
    if (net::Clock::now() >= next_byte) {
      origin->send("1\r\nx\r\n");
      next_byte += std::chrono::milliseconds(100);
    }
    (void)client->receive();
    return net::Clock::now() >= end || client->ended() || client->was_reset();
  });
  client->send("0\r\n\r\n");
  receive_until(*origin, "0\r\n\r\n");
  origin->send("4\r\nlast\r\n0\r\n\r\n");
  EXPECT_THAT(receive_until(*client, "0\r\n\r\n"), HasSubstr("4\r\nlast\r\n"));
}

}  // namespace
}  // namespace titanium::proxy::testing
