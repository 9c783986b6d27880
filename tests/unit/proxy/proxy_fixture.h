// SPDX-License-Identifier: MIT
//
// One worker on the test's own thread, with clients and an origin that the test plays itself over
// loopback sockets: nothing happens between two calls of pump(), so tests are deterministic.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/tcp.h"
#include "proxy/options.h"
#include "proxy/worker.h"

namespace titanium::proxy::testing {

// Sends everything to one endpoint, or tries all endpoints in turn.
class FixedRouter final : public Router, private OriginGroup {
 public:
  explicit FixedRouter(const std::vector<OriginEndpoint>& endpoints) : endpoints_(endpoints) {}
  RouteDecision route(const http::RequestHead& head) override {
    if (head.path.starts_with("/nowhere")) return {};
    return {.group = this, .settings = nullptr};
  }

 private:
  const OriginEndpoint* pick(std::span<const OriginEndpoint* const> tried,
                             net::TimePoint /*now*/) override {
    return tried.size() < endpoints_.size() ? &endpoints_[tried.size()] : nullptr;
  }
  void started(const OriginEndpoint& /*endpoint*/) override {}
  void finished(const OriginEndpoint& /*endpoint*/, bool /*failed*/,
                net::TimePoint /*now*/) override {}

  const std::vector<OriginEndpoint>& endpoints_;
};

// A non-blocking socket that the test reads and writes.
class Peer {
 public:
  explicit Peer(net::FileDescriptor socket) : socket_(std::move(socket)) {}

  void send(std::string_view text) {
    ASSERT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Sends as much as the socket takes.
  std::size_t send_some(std::string_view text) {
    const ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  // Everything that has arrived since the last call; remembers the end of the stream.
  std::string receive() {
    std::string all;
    char buffer[65536];
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got > 0) {
        all.append(buffer, static_cast<std::size_t>(got));
        continue;
      }
      ended_ = ended_ || got == 0;
      reset_ = reset_ || (got < 0 && errno == ECONNRESET);
      return all;
    }
  }
  void close() { socket_ = net::FileDescriptor(); }
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void shutdown_write() { ::shutdown(socket_.get(), SHUT_WR); }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool was_reset() const { return reset_; }
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  net::FileDescriptor socket_;
  bool ended_ = false;
  bool reset_ = false;
};

class ProxyTest : public ::testing::Test {
 protected:
  ProxyTest();

  // Called by tests that want other options, before start().
  ServerOptions& options() { return options_; }
  void start();
  Worker& worker() { return *worker_; }

  // Turns the worker's loop until nothing happens any more for a few turns.
  void pump();
  // Turns it until the condition holds; fails the test if it does not within two seconds.
  void pump_until(const std::function<bool()>& condition);

  std::unique_ptr<Peer> connect_client();
  // The next connection that the worker made to the origin.
  std::unique_ptr<Peer> accept_origin();
  [[nodiscard]] bool origin_has_connection();

  // Waits until at least `text` has been received by `peer` in all, and returns everything.
  std::string receive_until(Peer& peer, std::string_view text);

 private:
  ServerOptions options_;
  net::FileDescriptor origin_listener_;
  net::SocketAddress proxy_address_;
  std::unique_ptr<AdmissionCounters> admission_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace titanium::proxy::testing
