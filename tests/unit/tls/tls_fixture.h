// SPDX-License-Identifier: MIT
//
// Certificates, peers and a loop for the tests of this layer.
#pragma once

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/chunk.h"
#include "net/event_loop.h"
#include "support/memory_transport.h"
#include "tls/certificates/certificate_builder.h"
#include "tls/certificates/pem.h"
#include "tls/context.h"
#include "tls/tls_transport.h"

namespace titanium::tls {

// A CA in memory.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "Test CA")
      : key_(make_key()), root_(make_root(key_.get(), name, days(-1, 10)).value()) {}

  static Validity days(int from, int to) {
    const std::time_t now = std::time(nullptr);
    return {.not_before = now + from * 86'400, .not_after = now + to * 86'400};
  }

  [[nodiscard]] KeyPairPem issue(std::vector<std::string> names, Validity validity) const {
    const PrivateKey key = make_key();
    const auto leaf = make_leaf(key.get(), names, validity, root_.get(), key_.get());
    return {.certificate_chain = to_pem(leaf.value().get()), .private_key = to_pem(key.get())};
  }
  [[nodiscard]] KeyPairPem issue(std::vector<std::string> names) const {
    return issue(std::move(names), days(-1, 5));
  }
  [[nodiscard]] std::string pem() const { return to_pem(root_.get()); }

 private:
  PrivateKey key_;
  Certificate root_;
};

// One end of a connection under test: remembers everything it is told and reads all it can.
class Peer final : public HandshakeHandler, public net::TransportHandler {
 public:
  std::unique_ptr<TlsTransport> transport;
  std::optional<Result<>> handshake;
  std::string received;
  std::optional<net::ReadResult> last;  // The last status that was not `bytes`.
  int writable_events = 0;
  int readable_events = 0;
  std::size_t read_size = 16 * 1024;
  bool reads = true;
  std::function<void(Peer&)> on_open;
  std::unique_ptr<ChunkQueue> unsent;

  void on_handshake(Result<> result) override {
    handshake = result;
    if (!result) return;
    transport->set_handler(this);
    if (on_open) on_open(*this);
  }
  void on_readable() override {
    ++readable_events;
    if (reads) read_all();
  }
  void on_writable() override {
    ++writable_events;
    if (unsent != nullptr && !unsent->empty()) (void)transport->write(*unsent);
  }

  void read_all() {
    std::vector<std::uint8_t> buffer(read_size);
    for (;;) {
      const net::ReadResult result = transport->read(buffer);
      if (result.status != net::ReadResult::Status::bytes) {
        last = result;
        return;
      }
      received.append(reinterpret_cast<const char*>(buffer.data()), result.bytes);
    }
  }

  // Writes the text, and what is left of it when the transport can take it.
  Result<> write(ChunkPool& pool, std::string_view text) {
    if (unsent == nullptr) unsent = std::make_unique<ChunkQueue>(pool);
    unsent->append(text);
    return transport->write(*unsent);
  }

  [[nodiscard]] bool is_open() const { return handshake && handshake->has_value(); }
  [[nodiscard]] std::string failure() const {
    if (!handshake) return "(no result)";
    return handshake->has_value() ? "" : std::string(handshake->error().what);
  }
};

// A client and a server over a connection in memory.
class TlsTest : public ::testing::Test {
 protected:
  using Status = net::ReadResult::Status;

  TestAuthority authority;
  net::EventLoop loop;
  ChunkPool pool;
  ServerOptions server_options{.key_pairs = {authority.issue({"example.org"})}};
  ClientOptions client_options{.ca_pem = authority.pem()};
  std::shared_ptr<ServerContext> server_context;
  std::shared_ptr<ClientContext> client_context;
  std::string wire;                              // For the tap of a transport: what it wrote.
  test::MemoryTransport* server_wire = nullptr;  // Owned by the peers' transports.
  test::MemoryTransport* client_wire = nullptr;
  Peer server;
  Peer client;

  void make_contexts() {
    if (server_context == nullptr) {
      auto made = ServerContext::create(server_options);
      ASSERT_TRUE(made.has_value()) << made.error().what;
      server_context = *made;
    }
    if (client_context == nullptr) {
      auto made = ClientContext::create(client_options);
      ASSERT_TRUE(made.has_value()) << made.error().what;
      client_context = *made;
    }
  }

  // Both ends, before the first turn.
  void start(std::string_view server_name = "example.org") {
    make_contexts();
    reset_peers();
    auto [client_end, server_end] = test::MemoryTransport::make_pair(loop);
    client_wire = client_end.get();
    server_wire = server_end.get();
    server.transport = make_tls_server(loop, pool, std::move(server_end), server_context, server);
    client.transport =
        make_tls_client(loop, pool, std::move(client_end), client_context, server_name, client);
  }

  // A server alone; the test speaks for the client through client_end.
  std::unique_ptr<test::MemoryTransport> start_server() {
    make_contexts();
    reset_peers();
    auto [client_end, server_end] = test::MemoryTransport::make_pair(loop);
    server_wire = server_end.get();
    server.transport = make_tls_server(loop, pool, std::move(server_end), server_context, server);
    return std::move(client_end);
  }

  void reset_peers() {
    server.transport.reset();
    client.transport.reset();
    for (Peer* peer : {&server, &client}) {
      peer->handshake.reset();
      peer->received.clear();
      peer->last.reset();
      peer->unsent.reset();
      peer->writable_events = peer->readable_events = 0;
    }
  }

  // Connections in memory need no waiting: everything happens within the turns.
  void turn(int times = 3) {
    for (int i = 0; i < times; ++i) loop.run_once(net::Duration{0});
  }

  void connect(std::string_view server_name = "example.org") {
    start(server_name);
    turn();
    ASSERT_TRUE(client.is_open()) << client.failure() << ": " << client.transport->detail();
    ASSERT_TRUE(server.is_open()) << server.failure() << ": " << server.transport->detail();
  }
};

}  // namespace titanium::tls
