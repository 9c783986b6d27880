// SPDX-License-Identifier: MIT
#include "unit/proxy/proxy_fixture.h"

#include <poll.h>

namespace titanium::proxy::testing {
namespace {

const net::SocketAddress kAnyPort = *net::SocketAddress::parse("127.0.0.1", 0);

net::FileDescriptor listen() {
  auto socket = net::listen_tcp(kAnyPort, {.backlog = 128, .reuse_port = false, .accepted = {}});
  EXPECT_TRUE(socket.has_value());
  return *std::move(socket);
}

bool is_readable(int fd) {
  pollfd poll{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) == 1;
}

}  // namespace

ProxyTest::ProxyTest() : origin_listener_(listen()) {
  options_.listeners.push_back({.address = kAnyPort, .tls = nullptr, .concurrent_clients = {}});
  OriginEndpoint endpoint;
  endpoint.host = "127.0.0.1";
  endpoint.port = net::local_address_of(origin_listener_.get()).port();
  options_.endpoints.push_back(endpoint);
  options_.make_router = [](std::size_t, const std::vector<OriginEndpoint>& endpoints) {
    return std::make_unique<FixedRouter>(endpoints);
  };
}

void ProxyTest::start() {
  std::vector<net::FileDescriptor> sockets;
  sockets.push_back(listen());
  proxy_address_ = net::local_address_of(sockets[0].get());
  admission_ = std::make_unique<AdmissionCounters>(1);
  worker_ = std::make_unique<Worker>(options_, std::move(sockets), *admission_);
}

void ProxyTest::pump() {
  for (int i = 0; i < 8; ++i) worker_->loop().run_once(net::Duration(1));
}

void ProxyTest::pump_until(const std::function<bool()>& condition) {
  const auto deadline = net::Clock::now() + std::chrono::seconds(2);
  while (!condition()) {
    ASSERT_LT(net::Clock::now(), deadline) << "the awaited condition never became true";
    worker_->loop().run_once(net::Duration(5));
  }
}

std::unique_ptr<Peer> ProxyTest::connect_client() {
  net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.get(), proxy_address_.get(), proxy_address_.length()), 0);
  return std::make_unique<Peer>(std::move(socket));
}

bool ProxyTest::origin_has_connection() { return is_readable(origin_listener_.get()); }

std::unique_ptr<Peer> ProxyTest::accept_origin() {
  pump_until([this] { return origin_has_connection(); });
  net::FileDescriptor socket(::accept4(origin_listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(static_cast<bool>(socket));
  return std::make_unique<Peer>(std::move(socket));
}

std::string ProxyTest::receive_until(Peer& peer, std::string_view text) {
  std::string all;
  pump_until([&] {
    all += peer.receive();
    return all.contains(text) || peer.ended() || peer.was_reset();
  });
  return all;
}

}  // namespace titanium::proxy::testing
