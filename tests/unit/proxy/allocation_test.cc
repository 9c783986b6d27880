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
      ASSERT_EQ(client.send_some(request), request.size());
      wait_for(origin, request.size());
      ASSERT_EQ(origin.send_some(response), response.size());
      wait_for(client, response.size());
    }
  }

 private:
  // The forwarded message is at least as long as the original: the proxy only adds fields.
  void wait_for(Peer& peer, std::size_t at_least) {
    static char buffer[256 * 1024];
    std::size_t got = 0;
    for (int turn = 0; got < at_least && turn < 1000; ++turn) {
      worker().loop().run_once(net::Duration(5));
      const ssize_t more = ::recv(peer.fd(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (more > 0) got += static_cast<std::size_t>(more);
    }
    ASSERT_GE(got, at_least);
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
