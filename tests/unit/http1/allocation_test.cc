// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state. Counts what the codec allocates.
#include <gtest/gtest.h>

#include "http1/body_decoder.h"
#include "support/counting_allocator.h"
#include "unit/http1/head_text.h"

namespace titanium::http1 {
namespace {

using titanium::test::allocations;

constexpr std::string_view kRequest =
    "POST /api/items?id=17 HTTP/1.1\r\nHost: example.com\r\nUser-Agent: test\r\nAccept: */*\r\n"
    "Cookie: a=b; c=d\r\nX-Odd:  spaced \r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kChunks = "5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n";
constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nServer: x\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n";

// Everything that lives as long as a connection.
struct Connection {
  ChunkPool pool;
  ChunkQueue out{pool};
  ChunkQueue data{pool};
  RequestParser request_parser;
  ResponseParser response_parser;
  BodyDecoder decoder{Side::client};
  http::RequestHead request;
  http::ResponseHead response;
  http::FieldList trailers;
  ConnectionInfo info;
};

void decode_and_forward(Connection& c, std::string_view input) {
  c.decoder.start({.framing = Framing::chunked});
  for (;;) {
    const auto step = c.decoder.next(input, c.trailers);
    ASSERT_TRUE(step.has_value());
    c.data.append(input.substr(step->overhead, step->data));
    write_chunk(c.out, c.data);
    input.remove_prefix(step->overhead + step->data);
    if (step->done) break;
  }
  write_last_chunk(c.out, c.trailers);
}

void exchange(Connection& c) {
  c.request_parser.reset();
  const auto request = c.request_parser.parse(kRequest, c.request, c.info);
  ASSERT_TRUE(request.has_value() && request->has_value());
  http::drop_hop_by_hop(c.request.fields);
  c.request.fields.add("Via", "1.1 titanium");
  write_request_head(c.out, c.request);
  decode_and_forward(c, kChunks);

  c.response_parser.reset();
  const auto response = c.response_parser.parse(kResponse, c.request.method, c.response, c.info);
  ASSERT_TRUE(response.has_value() && response->has_value());
  http::drop_hop_by_hop(c.response.fields);
  write_response_head(c.out, c.response, http::Version::http11, AfterResponse::keep_alive);
  c.out.clear();
}

TEST(Allocation, NoneInTheSteadyStateOfAConnection) {
  Connection connection;
  const std::size_t before_warm_up = allocations();
  exchange(connection);
  EXPECT_GT(allocations(), before_warm_up) << "the counter does not count";
  const std::size_t live = connection.pool.live();
  const std::size_t before = allocations();
  for (int i = 0; i < 100; ++i) exchange(connection);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(connection.pool.live(), live);
}

TEST(Allocation, NoneForErrors) {
  Connection connection;
  exchange(connection);
  const std::size_t before = allocations();
  for (const std::string_view bad :
       {"GET / HTTP/1.1\r\nA : b\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\n"}) {
    connection.request_parser.reset();
    const bool accepted =
        connection.request_parser.parse(bad, connection.request, connection.info).has_value();
    if (accepted || allocations() != before) FAIL() << bad;
  }
}

}  // namespace
}  // namespace titanium::http1
