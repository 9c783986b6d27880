// SPDX-License-Identifier: MIT
#include "tls/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tls_fixture.h"

namespace titanium::tls {
namespace {

class ConnectionTest : public TlsTest {
 protected:
  // Repeatable noise.
  static std::string make_bytes(std::size_t size) {
    std::mt19937 random(7);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }

  void send_in_random_sizes(Peer& from, const std::string& bytes) {
    std::mt19937 random(11);
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t length = std::min<std::size_t>(
          bytes.size() - at, 1 + random() % (random() % 8 == 0 ? 50'000 : 300));
      ASSERT_TRUE(from.write(pool, std::string_view(bytes).substr(at, length)).has_value());
      if (random() % 8 == 0) loop.run_once(net::Duration{0});
      at += length;
    }
  }
};

// Records in bytes that a transport wrote: how many, and how long their bodies are.
std::vector<std::size_t> record_sizes(std::string_view wire) {
  std::vector<std::size_t> sizes;
  while (wire.size() >= 5) {
    const auto high = static_cast<unsigned char>(wire[3]);
    const auto low = static_cast<unsigned char>(wire[4]);
    sizes.push_back(static_cast<std::size_t>(high) << 8U | low);
    wire.remove_prefix(std::min(wire.size(), 5 + sizes.back()));
  }
  return sizes;
}

TEST_F(ConnectionTest, CarriesAMebibyteBothWaysInRandomSizes) {
  for (const auto maximum : {TlsVersion::tls12, TlsVersion::tls13}) {
    SCOPED_TRACE(static_cast<int>(maximum));
    server_context.reset();
    server_options.maximum = maximum;
    connect();
    const std::string bytes = make_bytes(1024 * 1024);
    send_in_random_sizes(client, bytes);
    send_in_random_sizes(server, bytes);
    turn();
    EXPECT_TRUE(server.received == bytes);
    EXPECT_TRUE(client.received == bytes);
    EXPECT_EQ(client.transport->unsent_bytes(), 0U);
    EXPECT_EQ(pool.live(), 0U);
  }
}

TEST_F(ConnectionTest, SurvivesEveryCut) {
  connect();
  client_wire->read_limit = server_wire->read_limit = 1;
  client_wire->write_limit = server_wire->write_limit = 1000;
  server.read_size = 3;
  const std::string bytes = make_bytes(40'000);
  send_in_random_sizes(client, bytes);
  send_in_random_sizes(server, bytes);
  turn();
  EXPECT_TRUE(server.received == bytes);
  EXPECT_TRUE(client.received == bytes);
}

TEST_F(ConnectionTest, JoinsSmallWritesOfOneTurnIntoOneRecord) {
  connect();
  client_wire->tap = &wire;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(client.write(pool, "0123456789").has_value());
  EXPECT_EQ(wire, "") << "nothing leaves before the end of the turn";
  turn();
  EXPECT_EQ(server.received.size(), 500U);
  EXPECT_EQ(record_sizes(wire).size(), 1U);
}

TEST_F(ConnectionTest, JoinsSlicesOfManyChunksButDoesNotSplitALargeOne) {
  connect();
  client_wire->tap = &wire;
  ChunkQueue queue(pool);
  for (int i = 0; i < 30; ++i) {
    ChunkQueue part(pool);
    part.append(std::string(100, 'a'));
    queue.push(part.take_front());
  }
  ChunkQueue body(pool);
  body.append(std::string(ChunkPool::kChunkBytes, 'b'));
  queue.push(body.take_front());
  ASSERT_TRUE(client.transport->write(queue).has_value());
  turn();
  EXPECT_EQ(server.received, std::string(3000, 'a') + std::string(ChunkPool::kChunkBytes, 'b'));
  const std::size_t overhead = 17;  // Content type and tag.
  EXPECT_THAT(record_sizes(wire),
              ::testing::ElementsAre(3000 + overhead, ChunkPool::kChunkBytes + overhead));
}

TEST_F(ConnectionTest, StopsTakingBytesWhenThePeerDoesNotRead) {
  connect();
  server.reads = false;
  client_wire->capacity = 10'000;
  ChunkQueue queue(pool);
  queue.append(std::string(1024 * 1024, 'x'));
  ASSERT_TRUE(client.transport->write(queue).has_value());
  turn();
  EXPECT_GT(queue.size(), 800'000U);
  EXPECT_LE(client.transport->unsent_bytes(), Connection::kBacklogBytes + 1000);
  EXPECT_EQ(client.writable_events, 0);

  server.reads = true;
  server.read_all();
  client.unsent = std::make_unique<ChunkQueue>(std::move(queue));
  turn(5);
  EXPECT_GT(client.writable_events, 0);
  EXPECT_EQ(server.received.size(), 1024U * 1024);
}

TEST_F(ConnectionTest, HoldsNoChunkWhenIdle) {
  connect();
  EXPECT_EQ(pool.live(), 0U);
  ASSERT_TRUE(client.write(pool, "request").has_value());
  turn();
  ASSERT_TRUE(server.write(pool, "answer").has_value());
  turn();
  EXPECT_EQ(client.received, "answer");
  EXPECT_EQ(pool.live(), 0U);
}

TEST_F(ConnectionTest, ReportsToAHandlerThatComesLate) {
  connect();
  server.transport->set_handler(nullptr);
  ASSERT_TRUE(client.write(pool, "early").has_value());
  turn();
  EXPECT_EQ(server.received, "");
  server.transport->set_handler(&server);
  turn();
  EXPECT_EQ(server.received, "early");
}

// Ends --------------------------------------------------------------------------------------------

TEST_F(ConnectionTest, EndsWithCloseNotifyAndReadsOn) {
  for (const auto maximum : {TlsVersion::tls12, TlsVersion::tls13}) {
    SCOPED_TRACE(static_cast<int>(maximum));
    server_context.reset();
    server_options.maximum = maximum;
    connect();
    ASSERT_TRUE(client.write(pool, "all of it").has_value());
    client.transport->shutdown_write();
    turn();
    EXPECT_EQ(server.received, "all of it");
    EXPECT_EQ(server.last->status, Status::end);
    EXPECT_TRUE(client_wire->has_shut_down()) << "FIN follows close_notify";
    EXPECT_EQ(client.last->status, Status::would_block);

    ASSERT_TRUE(server.write(pool, "late answer").has_value());
    turn();
    EXPECT_EQ(client.received, "late answer");
    server.transport->shutdown_write();
    turn();
    EXPECT_EQ(client.last->status, Status::end);
    std::uint8_t byte = 0;
    EXPECT_EQ(client.transport->read({&byte, 1}).status, Status::end) << "and stays so";
  }
}

TEST_F(ConnectionTest, RefusesToWriteAfterItsEnd) {
  connect();
  client.transport->shutdown_write();
  ChunkQueue queue(pool);
  queue.append("x");
  EXPECT_EQ(client.transport->write(queue).error().code, Code::internal);
}

TEST_F(ConnectionTest, SendsEverythingBeforeTheEndEvenThroughANarrowPipe) {
  connect();
  client_wire->write_limit = 100;
  const std::string bytes = make_bytes(50'000);
  ASSERT_TRUE(client.write(pool, bytes).has_value());
  client.transport->shutdown_write();
  turn();
  EXPECT_TRUE(server.received == bytes);
  EXPECT_EQ(server.last->status, Status::end);
}

TEST_F(ConnectionTest, TellsTruncationFromAnEnd) {
  connect();
  server_wire->send("");
  // FIN of the inner transport, as an attacker can forge it.
  client_wire->shutdown_write();
  turn();
  EXPECT_EQ(server.last->status, Status::truncated);
  std::uint8_t byte = 0;
  EXPECT_EQ(server.transport->read({&byte, 1}).status, Status::truncated);
}

TEST_F(ConnectionTest, CanAnswerAfterATruncatedRequest) {
  connect();
  ASSERT_TRUE(client.write(pool, "request").has_value());
  turn();
  client_wire->shutdown_write();
  turn();
  ASSERT_EQ(server.last->status, Status::truncated);
  ASSERT_TRUE(server.write(pool, "answer").has_value());
  turn();
  EXPECT_EQ(client.received, "answer");
}

TEST_F(ConnectionTest, FindsTruncationWithinARecord) {
  connect();
  client_wire->tap = &wire;
  ASSERT_TRUE(client.write(pool, "a record that is cut").has_value());
  server.reads = false;
  turn();
  // The same bytes again, but only the first half of them; they fail or are short, but never end.
  connect();
  client_wire->send(std::string_view("\x17\x03\x03\x00\x30half", 9));
  client_wire->shutdown_write();
  server.reads = true;
  turn();
  EXPECT_EQ(server.last->status, Status::truncated);
}

TEST_F(ConnectionTest, SaysCloseNotifyWhenItIsDestroyed) {
  connect();
  client.transport.reset();
  turn();
  EXPECT_EQ(server.last->status, Status::end);
}

TEST_F(ConnectionTest, SendsWhatItTookWhenItIsDestroyed) {
  connect();
  ASSERT_TRUE(client.write(pool, "last words").has_value());
  client.transport.reset();
  turn();
  EXPECT_EQ(server.received, "last words");
  EXPECT_EQ(server.last->status, Status::end);
}

TEST_F(ConnectionTest, ResetsWhenAborted) {
  connect();
  client.transport->abort_on_close();
  client.transport.reset();
  turn();
  EXPECT_EQ(server.last->status, Status::failed);
  EXPECT_EQ(server.last->error.code, Code::closed);
  EXPECT_EQ(server.last->error.side, Side::client);
  EXPECT_EQ(server.last->error.native, ECONNRESET);
}

TEST_F(ConnectionTest, FailsOnAForgedRecord) {
  connect();
  client_wire->send(std::string_view("\x17\x03\x03\x00\x14", 5));
  client_wire->send("12345678901234567890");
  turn();
  ASSERT_EQ(server.last->status, Status::failed);
  EXPECT_EQ(server.last->error.code, Code::protocol);
  EXPECT_EQ(server.last->error.side, Side::client);
  ASSERT_EQ(client.last->status, Status::failed) << "the alert arrives";
  EXPECT_EQ(client.last->error.side, Side::origin);
  EXPECT_EQ(client.last->error.what, "ssl/tls alert bad record mac");
  ChunkQueue queue(pool);
  queue.append("x");
  EXPECT_FALSE(server.transport->write(queue).has_value());
}

TEST_F(ConnectionTest, ReportsAWriteFailureAndStillReadsWhatCame) {
  connect();
  client.reads = false;
  ASSERT_TRUE(server.write(pool, "early answer").has_value());
  turn();
  client_wire->broken = true;
  ASSERT_TRUE(client.write(pool, "request body").has_value());
  turn();
  EXPECT_EQ(client.writable_events, 1);
  ChunkQueue queue(pool);
  queue.append("more");
  const auto result = client.transport->write(queue);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::closed);
  EXPECT_EQ(result.error().side, Side::origin);
  client.read_all();
  EXPECT_EQ(client.received, "early answer");
}

// Reuse -------------------------------------------------------------------------------------------

TEST_F(ConnectionTest, IsNotStaleBecauseOfSessionTickets) {
  client.on_open = [](Peer& peer) { peer.transport->set_handler(nullptr); };
  connect();
  ASSERT_FALSE(client_wire->unread().empty()) << "tickets wait to be read";
  EXPECT_FALSE(client.transport->is_stale());
  EXPECT_TRUE(client_wire->unread().empty());
  EXPECT_FALSE(client.transport->is_stale());
  EXPECT_EQ(client_context->impl().sessions.size(), 2U);
  EXPECT_EQ(pool.live(), 0U);
}

TEST_F(ConnectionTest, IsStaleAfterDataEndResetOrGarbage) {
  struct Case {
    std::string_view name;
    std::function<void()> act;
  };
  const Case cases[] = {
      {"data", [&] { (void)server.write(pool, "unasked"); }},
      {"close_notify", [&] { server.transport->shutdown_write(); }},
      {"FIN", [&] { server_wire->shutdown_write(); }},
      {"reset",
       [&] {
         server.transport->abort_on_close();
         server.transport.reset();
       }},
      {"garbage", [&] { server_wire->send("no TLS record"); }},
      {"half a record", [&] { server_wire->send(std::string_view("\x17\x03\x03\x01\x00x", 6)); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    connect();
    client.transport->set_handler(nullptr);
    EXPECT_FALSE(client.transport->is_stale());
    c.act();
    turn();
    EXPECT_TRUE(client.transport->is_stale());
  }
}

TEST_F(ConnectionTest, KeepsTheDataThatMadeItStale) {
  connect();
  client.transport->set_handler(nullptr);
  (void)server.write(pool, "unasked");
  turn();
  ASSERT_TRUE(client.transport->is_stale());
  client.read_all();
  EXPECT_EQ(client.received, "unasked");
}

// Floods ------------------------------------------------------------------------------------------

// A client that speaks through OpenSSL alone, so that it can misbehave.
class RawClient {
 public:
  explicit RawClient(int version)
      : context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_.get())) {
    SSL_set_min_proto_version(ssl_.get(), version);
    SSL_set_max_proto_version(ssl_.get(), version);
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }
  [[nodiscard]] std::string take_output() const {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl())), '\0');
    if (!bytes.empty()) BIO_read(SSL_get_wbio(ssl()), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  void feed(std::string_view bytes) const {
    BIO_write(SSL_get_rbio(ssl()), bytes.data(), static_cast<int>(bytes.size()));
  }

 private:
  SslContext context_;
  Ssl ssl_;
};

// Hands what the server sent to the raw client.
void deliver(test::MemoryTransport& wire, const RawClient& raw) {
  std::array<std::uint8_t, 16 * 1024> buffer;
  for (;;) {
    const auto result = wire.read(buffer);
    if (result.status != net::ReadResult::Status::bytes) return;
    raw.feed(as_text(Bytes(buffer).first(result.bytes)));
  }
}

TEST_F(ConnectionTest, BoundsKeyUpdatesWithoutData) {
  auto wire_end = start_server();
  const RawClient raw(TLS1_3_VERSION);
  while (SSL_do_handshake(raw.ssl()) != 1) {
    wire_end->send(raw.take_output());
    turn();
    deliver(*wire_end, raw);
  }
  wire_end->send(raw.take_output());
  turn();
  ASSERT_TRUE(server.is_open());
  const auto update_keys = [&](int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(SSL_key_update(raw.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
      ASSERT_EQ(SSL_do_handshake(raw.ssl()), 1);
      wire_end->send(raw.take_output());
    }
    turn();
  };
  update_keys(10);
  EXPECT_EQ(server.last->status, Status::would_block) << "a few are fine";
  update_keys(4000);
  ASSERT_EQ(server.last->status, Status::failed);
  EXPECT_EQ(server.last->error.code, Code::limit);
  EXPECT_EQ(server.last->error.side, Side::client);
}

TEST_F(ConnectionTest, RefusesRenegotiation) {
  auto wire_end = start_server();
  const RawClient raw(TLS1_2_VERSION);
  while (SSL_do_handshake(raw.ssl()) != 1) {
    wire_end->send(raw.take_output());
    turn();
    deliver(*wire_end, raw);
  }
  ASSERT_TRUE(server.is_open());
  ASSERT_EQ(SSL_renegotiate(raw.ssl()), 1);
  EXPECT_NE(SSL_do_handshake(raw.ssl()), 1);
  wire_end->send(raw.take_output());
  turn();
  deliver(*wire_end, raw);
  EXPECT_NE(SSL_do_handshake(raw.ssl()), 1);
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
  ERR_clear_error();
}

}  // namespace
}  // namespace titanium::tls
