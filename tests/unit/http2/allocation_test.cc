// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "http2/connection.h"
#include "support/counting_allocator.h"

namespace titanium::http2 {
namespace {

using titanium::test::allocations;

struct Exchange final : Stream {
  explicit Exchange(ChunkPool& pool) : Stream(pool) {}
  http::RequestHead request;
  http::ResponseHead response;
};

// Both ends of a connection; each has one object for streams at a time.
struct End : ConnectionHandler {
  End(Role as, const Options& options, ChunkPool& pool, Connection::TimePoint now)
      : role(as), stream(pool), connection(as, options, pool, *this, now) {}
  Stream* on_new_stream() override { return &stream; }
  http::RequestHead& request_of(Stream&) override { return stream.request; }
  http::ResponseHead& response_of(Stream&) override { return stream.response; }
  void on_request(Stream& s, bool) override { connection.send_response(s, answer); }
  void on_refused_request(Stream&, const Error&) override {}
  void on_response(Stream&, bool) override {}
  void on_data(Stream& s, ChunkQueue& data) override {
    const std::size_t bytes = data.size();
    if (role == Role::server) {
      connection.send_data(s, data);
    } else {
      data.clear();
    }
    connection.consumed(s, bytes);
  }
  void on_end(Stream& s, const http::FieldList& trailers) override {
    if (role == Role::server) connection.send_end(s, trailers);
  }
  void on_stream_writable(Stream&) override {}
  void on_closed(Stream&) override { ++closed; }
  void on_reset(Stream&, const Error&) override { FAIL(); }
  void on_goaway() override {}

  Role role;
  http::ResponseHead answer;
  Exchange stream;
  std::size_t closed = 0;
  Connection connection;
};

TEST(ConnectionAllocations, AreNoneInTheSteadyState) {
  Options options;
  ChunkPool pool;
  const Connection::TimePoint now{std::chrono::hours(1)};
  End client(Role::client, options, pool, now);
  End server(Role::server, options, pool, now);
  ChunkQueue wire(pool);
  const auto pump = [&](End& from, End& to) {
    (void)from.connection.produce(wire, 1 << 20);
    while (!wire.empty()) ASSERT_TRUE(to.connection.receive(wire.take_front(), now));
  };
  http::RequestHead request;
  request.method = http::Method::post;
  request.method_text = "POST";
  request.scheme = "https";
  request.authority = "a.example";
  request.path = "/some/path?with=query";
  request.body = {.kind = http::BodyKind::streamed};
  request.fields.add("User-Agent", "test");
  request.fields.add("Cookie", "a=b");
  request.fields.add("Cookie", "a-longer-name-of-a-cookie=with-a-longer-value");
  server.answer.status = 200;
  server.answer.body = {.kind = http::BodyKind::streamed};
  server.answer.fields.add("Server", "test");
  http::FieldList trailers;
  trailers.add("x-checksum-of-the-body", "0123456789abcdef");
  ChunkQueue body(pool);
  pump(client, server);
  pump(server, client);
  std::size_t before = 0;
  std::uint64_t chunks = 0;
  for (int i = 0; i < 600; ++i) {
    if (i == 300) {
      before = allocations();
      chunks = pool.allocated();
    }
    client.connection.send_request(client.stream, request);
    std::array<char, 20'000> bytes;
    bytes.fill('x');
    body.append({bytes.data(), i % 2 == 0 ? bytes.size() : 50});
    client.connection.send_data(client.stream, body);
    client.connection.send_end(client.stream, trailers);
    pump(client, server);
    for (int turn = 0; turn < 3; ++turn) {
      pump(server, client);
      pump(client, server);
    }
    ASSERT_EQ(client.closed, static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(allocations() - before, 0U);
  EXPECT_EQ(pool.allocated() - chunks, 0U);
}

}  // namespace
}  // namespace titanium::http2
