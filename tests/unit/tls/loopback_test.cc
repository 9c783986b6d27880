// SPDX-License-Identifier: MIT
//
// TLS over real sockets: what the connections in memory cannot show.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/tcp.h"
#include "tls_fixture.h"

namespace titanium::tls {
namespace {

class Loopback : public TlsTest {
 protected:
  // Connected sockets on the loop.
  void SetUp() override {
    make_contexts();
    const auto any = net::SocketAddress::parse("127.0.0.1", 0).value();
    const auto listening = net::listen_tcp(any, {}).value();
    const net::SocketAddress address = net::local_address_of(listening.get());
    net::FileDescriptor connecting(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(connecting.get(), address.get(), address.length()), 0);
    net::FileDescriptor accepted(
        ::accept4(accept_ready(listening.get()), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    ASSERT_TRUE(accepted);
    const int flags = ::fcntl(connecting.get(), F_GETFL);
    ASSERT_EQ(::fcntl(connecting.get(), F_SETFL, flags | O_NONBLOCK), 0);
    client.transport = make_tls_client(
        loop, pool, net::make_tcp_transport(loop, std::move(connecting), address, {}),
        client_context, "example.org", client);
    server.transport =
        make_tls_server(loop, pool, net::make_tcp_transport(loop, std::move(accepted), address, {}),
                        server_context, server);
    ASSERT_TRUE(run_until([&] { return client.is_open() && server.is_open(); }));
  }

  // The listening socket, once somebody waits there.
  static int accept_ready(int fd) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 5000), 1);
    return fd;
  }

  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition) {
    for (int turns = 0; turns < 5000 && !condition(); ++turns) {
      loop.run_once(net::Duration{100});
    }
    return condition();
  }
};

TEST_F(Loopback, CarriesDataBothWaysAndHoldsNothingAfterwards) {
  const std::string bytes(3 * 1024 * 1024, 'x');
  ASSERT_TRUE(client.write(pool, bytes).has_value());
  ASSERT_TRUE(server.write(pool, bytes).has_value());
  ASSERT_TRUE(run_until([&] {
    return client.received.size() == bytes.size() && server.received.size() == bytes.size();
  }));
  client.unsent.reset();
  server.unsent.reset();
  EXPECT_EQ(pool.live(), 0U);
  EXPECT_FALSE(client.transport->is_stale());
  EXPECT_FALSE(client.transport->peer_address().empty());
  EXPECT_FALSE(client.transport->local_address().empty());
}

TEST_F(Loopback, EndsInOrder) {
  client.transport->shutdown_write();
  ASSERT_TRUE(run_until([&] { return server.last && server.last->status == Status::end; }));
  ASSERT_TRUE(server.write(pool, "answer").has_value());
  server.transport->shutdown_write();
  ASSERT_TRUE(run_until([&] { return client.last && client.last->status == Status::end; }));
  EXPECT_EQ(client.received, "answer");
}

TEST_F(Loopback, SeesAReset) {
  server.transport->abort_on_close();
  server.transport.reset();
  ASSERT_TRUE(run_until([&] { return client.last && client.last->status == Status::failed; }));
  EXPECT_EQ(client.last->error.code, Code::closed);
  EXPECT_EQ(client.last->error.side, Side::origin);
  EXPECT_EQ(client.last->error.native, ECONNRESET);
  EXPECT_TRUE(client.transport->is_stale());
}

TEST_F(Loopback, SaysCloseNotifyWhenDestroyed) {
  client.transport.reset();
  ASSERT_TRUE(run_until([&] { return server.last && server.last->status == Status::end; }));
}

}  // namespace
}  // namespace titanium::tls
