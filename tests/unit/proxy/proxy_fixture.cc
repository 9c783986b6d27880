// SPDX-License-Identifier: MIT
#include "unit/proxy/proxy_fixture.h"

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

void set_buffer(int fd, int which, int bytes) {
  EXPECT_EQ(::setsockopt(fd, SOL_SOCKET, which, &bytes, sizeof bytes), 0);
}

}  // namespace

ProxyTest::ProxyTest() {
  verdicts_.reserve(4096);  // There are tests that count allocations.
  options_.listeners.push_back({.address = kAnyPort, .tls = nullptr, .concurrent_clients = {}});
  add_endpoint();
  options_.make_router = [this](std::size_t, const std::vector<OriginEndpoint>& endpoints) {
    return std::make_unique<FixedRouter>(endpoints, verdicts_);
  };
}

void ProxyTest::add_endpoint() {
  origin_listeners_.push_back(listen());
  OriginEndpoint endpoint = options_.endpoints.empty() ? OriginEndpoint() : options_.endpoints[0];
  endpoint.index = options_.endpoints.size();
  endpoint.host = "127.0.0.1";
  endpoint.port = net::local_address_of(origin_listeners_.back().get()).port();
  options_.endpoints.push_back(endpoint);
}

void ProxyTest::start(int send_buffer) {
  std::vector<net::FileDescriptor> sockets;
  sockets.push_back(listen());
  // Accepted sockets inherit it.
  if (send_buffer > 0) set_buffer(sockets[0].get(), SO_SNDBUF, send_buffer);
  proxy_address_ = net::local_address_of(sockets[0].get());
  admission_ = std::make_unique<AdmissionCounters>(1);
  worker_ = std::make_unique<Worker>(options_, std::move(sockets), *admission_);
}

void ProxyTest::pump() {
  for (int i = 0; i < 8; ++i) worker_->loop().run_once(net::Duration(1));
}

void ProxyTest::pump_until(const std::function<bool()>& condition, net::Duration patience) {
  const auto deadline = net::Clock::now() + patience;
  while (!condition()) {
    ASSERT_LT(net::Clock::now(), deadline) << "the awaited condition never became true";
    worker_->loop().run_once(net::Duration(5));
  }
}

std::unique_ptr<Peer> ProxyTest::connect_client(int receive_buffer) {
  net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer > 0) set_buffer(socket.get(), SO_RCVBUF, receive_buffer);
  EXPECT_EQ(::connect(socket.get(), proxy_address_.get(), proxy_address_.length()), 0);
  return std::make_unique<Peer>(std::move(socket));
}

bool ProxyTest::origin_has_connection(std::size_t endpoint) {
  return is_readable(origin_listeners_[endpoint].get());
}

void ProxyTest::set_origin_receive_buffer(int bytes) {
  for (const auto& listener : origin_listeners_) set_buffer(listener.get(), SO_RCVBUF, bytes);
}

std::unique_ptr<Peer> ProxyTest::accept_origin(std::size_t endpoint) {
  pump_until([&] { return origin_has_connection(endpoint); });
  const int listener = origin_listeners_[endpoint].get();
  net::FileDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
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
