// SPDX-License-Identifier: MIT
//
// The promise that the relay lane allocates nothing per request in the steady state.
#include "support/counting_allocator.h"
#include "unit/proxy/proxy_fixture.h"

namespace titanium::proxy::testing {
namespace {

class AllocationTest : public ProxyTest {
 protected:
  // Plays `count` exchanges without allocating in the test itself.
  void play(Peer& client, Peer& origin, std::string_view request, std::string_view response,
            int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_NO_FATAL_FAILURE(send_all(client, request));
      ASSERT_NO_FATAL_FAILURE(wait_for_message(origin, body_bytes_of(request)));
      ASSERT_NO_FATAL_FAILURE(send_all(origin, response));
      ASSERT_NO_FATAL_FAILURE(wait_for_message(client, body_bytes_of(response)));
    }
  }

 private:
  static constexpr std::string_view kHeadEnd = "\r\n\r\n";
  static constexpr int kTurns = 4000;  // Of five milliseconds, if nothing happens.

  static std::size_t body_bytes_of(std::string_view message) {
    return message.size() - message.find(kHeadEnd) - kHeadEnd.size();
  }
  // A kernel that is late with its acknowledgements may not take everything at once.
  void send_all(Peer& peer, std::string_view text) {
    for (int turn = 0; !text.empty() && turn < kTurns; ++turn) {
      text.remove_prefix(peer.send_some(text));
      if (!text.empty()) worker().loop().run_once(net::Duration(5));
    }
    ASSERT_TRUE(text.empty());
  }
  // All of it: if the next exchange began while the rest of this one is on its way, more memory
  // would be in use at a time than before.
  void wait_for_message(Peer& peer, std::size_t body_bytes) {
    static char buffer[256 * 1024];
    std::size_t got = 0;
    bool complete = false;
    for (int turn = 0; !complete && turn < kTurns; ++turn) {
      worker().loop().run_once(net::Duration(5));
      const ssize_t more = ::recv(peer.fd(), buffer + got, sizeof buffer - got, MSG_DONTWAIT);
      if (more > 0) got += static_cast<std::size_t>(more);
      const std::size_t head = std::string_view(buffer, got).find(kHeadEnd);
      complete = head != std::string_view::npos && got == head + kHeadEnd.size() + body_bytes;
    }
    ASSERT_TRUE(complete);
    worker().loop().run_once(net::Duration(0));
  }
};

TEST_F(AllocationTest, IsZeroPerRequestInTheSteadyState) {
  start();
  auto client = connect_client();
  const std::string_view get =
      "GET /a HTTP/1.1\r\nHost: example.org\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n";
  const std::string_view ok =
      "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n"
      "Content-Length: 5\r\n\r\nhello";
  const std::string body(60'000, 'b');
  const std::string post =
      "POST /b HTTP/1.1\r\nHost: example.org\r\nContent-Length: 60000\r\n\r\n" + body;
  const std::string large =
      "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 60000\r\n\r\n" +
      body;

  client->send(get);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send(ok);
  receive_until(*client, "hello");
  play(*client, *origin, get, ok, 50);  // Tables and pools grow to what is needed.
  play(*client, *origin, post, large, 50);

  const std::size_t before = test::allocations();
  const std::uint64_t chunks_before = worker().chunks().allocated();
  play(*client, *origin, get, ok, 500);
  play(*client, *origin, post, large, 100);
  EXPECT_EQ(test::allocations() - before, 0U);
  EXPECT_EQ(worker().chunks().allocated() - chunks_before, 0U);
}

}  // namespace
}  // namespace titanium::proxy::testing
