// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tls/server_context.h"
#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Handshake : public TlsTest {};

TEST_F(Handshake, NegotiatesTls13WithTheHybridGroupByDefault) {
  connect();
  for (const Peer* peer : {&client, &server}) {
    EXPECT_EQ(peer->transport->version(), "TLSv1.3");
    EXPECT_EQ(peer->transport->group(), "X25519MLKEM768");
    EXPECT_EQ(peer->transport->cipher(), "TLS_AES_128_GCM_SHA256");
    EXPECT_EQ(peer->transport->alpn(), "http/1.1");
    EXPECT_FALSE(peer->transport->resumed());
    EXPECT_TRUE(peer->transport->is_encrypted());
    EXPECT_EQ(peer->transport->detail(), "");
  }
  EXPECT_EQ(server.transport->server_name(), "example.org");
  EXPECT_EQ(client.transport->server_name(), "");
  EXPECT_EQ(server_context->counters().handshakes, 1U);
  EXPECT_EQ(client_context->counters().handshakes, 1U);
  EXPECT_EQ(server_context->counters().failures, 0U);
}

TEST_F(Handshake, NegotiatesTls12WithForwardSecrecyAndAead) {
  for (const bool server_limits : {true, false}) {
    SCOPED_TRACE(server_limits);
    server_context.reset();
    client_context.reset();
    server_options.maximum = server_limits ? TlsVersion::tls12 : TlsVersion::tls13;
    client_options.maximum = server_limits ? TlsVersion::tls13 : TlsVersion::tls12;
    connect();
    EXPECT_EQ(client.transport->version(), "TLSv1.2");
    EXPECT_EQ(client.transport->cipher(), "ECDHE-ECDSA-AES128-GCM-SHA256");
  }
}

TEST_F(Handshake, TellsTheHandlerNothingBeforeTheTurn) {
  start();
  EXPECT_FALSE(client.handshake.has_value());
  EXPECT_FALSE(server.handshake.has_value());
}

TEST_F(Handshake, CarriesNoDataBeforeItIsDone) {
  start();
  ChunkQueue queue(pool);
  queue.append("early");
  ASSERT_TRUE(client.transport->write(queue).has_value());
  EXPECT_EQ(queue.size(), 5U);
  std::uint8_t byte = 0;
  EXPECT_EQ(client.transport->read({&byte, 1}).status, Status::would_block);
  turn();
  EXPECT_EQ(client.writable_events, 1) << "the write that was refused may be repeated";
}

TEST_F(Handshake, SurvivesEveryCutOfBothDirections) {
  for (const auto maximum : {TlsVersion::tls12, TlsVersion::tls13}) {
    SCOPED_TRACE(static_cast<int>(maximum));
    server_context.reset();
    server_options.maximum = maximum;
    start();
    client_wire->read_limit = server_wire->read_limit = 1;
    client_wire->write_limit = server_wire->write_limit = 7;
    turn();
    EXPECT_TRUE(client.is_open()) << client.failure();
    EXPECT_TRUE(server.is_open()) << server.failure();
  }
}

TEST_F(Handshake, FailsWhenThePeerLeavesInTheMiddle) {
  auto raw_client = start_server();
  raw_client->send(std::string_view("\x16\x03\x01\x02\x00", 5));
  turn();
  EXPECT_FALSE(server.handshake.has_value());
  raw_client.reset();
  turn();
  ASSERT_TRUE(server.handshake.has_value());
  ASSERT_FALSE(server.handshake->has_value());
  EXPECT_EQ(server.handshake->error().code, Code::closed);
  EXPECT_EQ(server.handshake->error().side, Side::client);
  EXPECT_EQ(server_context->counters().failures, 1U);
  std::uint8_t byte = 0;
  EXPECT_EQ(server.transport->read({&byte, 1}).status, Status::failed);
}

TEST_F(Handshake, FailsWhenThePeerResets) {
  start();
  server_wire->abort_on_close();
  server.transport.reset();
  turn();
  ASSERT_FALSE(client.is_open());
  EXPECT_EQ(client.handshake->error().code, Code::closed);
  EXPECT_EQ(client.handshake->error().side, Side::origin);
  EXPECT_EQ(client.handshake->error().retry, Retry::always);
}

TEST_F(Handshake, RefusesGarbage) {
  struct Case {
    std::string_view name;
    std::string_view bytes;
    bool alert;  // Whether the client looks like one that understands an alert.
  };
  const Case cases[] = {
      {"no record at all", "garbage of another protocol", false},
      {"ClientHello without content", {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10}, true},
      {"data before the handshake", {"\x17\x03\x03\x00\x02hi", 7}, true},
      {"record above the limit", {"\x16\x03\x01\xff\xff", 5}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    auto raw_client = start_server();
    raw_client->send(c.bytes);
    turn();
    ASSERT_TRUE(server.handshake.has_value());
    ASSERT_FALSE(server.handshake->has_value());
    EXPECT_EQ(server.handshake->error().code, Code::protocol);
    EXPECT_EQ(server.handshake->error().side, Side::client);
    EXPECT_FALSE(server.handshake->error().what.empty());
    EXPECT_NE(server.transport->detail(), "");
    EXPECT_EQ(raw_client->unread().starts_with("\x15\x03"), c.alert);
  }
}

TEST_F(Handshake, AnswersClearTextHttpInClear) {
  const std::string_view cases[] = {
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /a HTTP/1.1\r\n\r\nbody",
      "DELETE /a HTTP/1.1\r\n",
      "OPTIONS * HTTP/1.1\r\n",
      "CONNECT a:443 HTTP/1.1\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (const std::string_view request : cases) {
    for (const std::size_t cut : {std::size_t{1}, request.size()}) {
      SCOPED_TRACE(std::string(request));
      auto raw_client = start_server();
      server_wire->read_limit = cut;
      raw_client->send(request);
      turn();
      EXPECT_EQ(server.failure(), "clear-text HTTP on a TLS port");
      EXPECT_THAT(std::string(raw_client->unread()), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
      EXPECT_THAT(std::string(raw_client->unread()), HasSubstr("https://"));
      EXPECT_TRUE(raw_client->peer_is_gone()) << "the answer ends with FIN";
    }
  }
}

TEST_F(Handshake, DoesNotTakeOtherTextForHttp) {
  auto raw_client = start_server();
  raw_client->send("EHLO example.org\r\n");
  turn();
  ASSERT_FALSE(server.is_open());
  EXPECT_NE(server.failure(), "clear-text HTTP on a TLS port");
}

TEST_F(Handshake, BoundsWhatAClientMaySend) {
  auto raw_client = start_server();
  // A ClientHello that announces 16 MiB, in full records.
  std::string record("\x16\x03\x01\x40\x00", 5);
  std::string body(16 * 1024, '\0');
  std::string first = body;
  first.replace(0, 4, std::string("\x01\xff\xff\xff", 4));
  raw_client->send(record + first);
  for (int i = 0; i < 64; ++i) raw_client->send(record + body);
  turn();
  ASSERT_TRUE(server.handshake.has_value());
  ASSERT_FALSE(server.handshake->has_value());
}

TEST_F(Handshake, ChoosesTheProtocolThatTheServerPrefers) {
  server_options.alpn = {"h2", "http/1.1"};
  client_options.alpn = {"http/1.1", "h2"};
  connect();
  EXPECT_EQ(client.transport->alpn(), "h2");
  EXPECT_EQ(server.transport->alpn(), "h2");
}

TEST_F(Handshake, FailsWithoutACommonProtocol) {
  client_options.alpn = {"h2"};
  start();
  turn();
  ASSERT_FALSE(server.is_open());
  ASSERT_FALSE(client.is_open());
  EXPECT_EQ(client.handshake->error().code, Code::protocol);
  EXPECT_THAT(client.failure(), HasSubstr("no application protocol"));
}

TEST_F(Handshake, ServesClientsWithoutAlpn) {
  client_options.alpn = {};
  connect();
  EXPECT_EQ(server.transport->alpn(), "");
}

TEST_F(Handshake, DropsTheConnectionQuietlyWhenDestroyedEarly) {
  start();
  loop.run_once(net::Duration{0});
  start();
  server.transport.reset();
  client.transport.reset();
  turn();
  EXPECT_EQ(pool.live(), 0U);
}

}  // namespace
}  // namespace titanium::tls
