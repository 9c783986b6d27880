// SPDX-License-Identifier: MIT
//
// One worker on the test's own thread, with clients and an origin that the test plays itself over
// loopback sockets: nothing happens between two calls of pump(), so tests are deterministic.
#pragma once

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/tcp.h"
#include "proxy/options.h"
#include "proxy/worker.h"

namespace titanium::proxy::testing {

// What an endpoint was given, and what the end of it was taken for.
struct Verdict {
  std::size_t endpoint;
  Outcome outcome;
  bool operator==(const Verdict&) const = default;
};

// Sends everything to one endpoint, or tries all endpoints in turn.
class FixedRouter final : public Router, private OriginGroup {
 public:
  FixedRouter(const std::vector<OriginEndpoint>& endpoints, std::vector<Verdict>& verdicts)
      : endpoints_(endpoints), verdicts_(verdicts) {}
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
  void finished(const OriginEndpoint& endpoint, Outcome outcome, net::TimePoint /*now*/) override {
    verdicts_.push_back({.endpoint = endpoint.index, .outcome = outcome});
  }

  const std::vector<OriginEndpoint>& endpoints_;
  std::vector<Verdict>& verdicts_;
};

// A non-blocking socket that the test reads and writes.
class Peer {
 public:
  explicit Peer(net::FileDescriptor socket) : socket_(std::move(socket)) {
    const int on = 1;  // Tests send little, and are not to wait for acknowledgements.
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

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
  // The same, at most so many bytes.
  std::string receive_some(std::size_t most) {
    std::string some(most, '\0');
    const ssize_t got = ::recv(socket_.get(), some.data(), most, MSG_DONTWAIT);
    some.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    ended_ = ended_ || got == 0;
    reset_ = reset_ || (got < 0 && errno == ECONNRESET);
    return some;
  }
  // Waits until the other end's kernel has everything that was sent, also an end: whatever the
  // worker looks at from now on, it finds it.
  void wait_until_delivered() {
    for (int unsent = 1; unsent > 0; ::poll(nullptr, 0, 1)) {
      ASSERT_EQ(::ioctl(socket_.get(), SIOCOUTQ, &unsent), 0);
      if (unsent == 0) return;
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
  // The same: another endpoint, which the router tries after those that are there.
  void add_endpoint();
  // `send_buffer`: bytes that the kernel takes for a client that does not read; 0: its default.
  void start(int send_buffer = 0);
  Worker& worker() { return *worker_; }

  // Turns the worker's loop until nothing happens any more for a few turns.
  void pump();
  // Turns it until the condition holds; fails the test if that takes longer than `patience`, which
  // is no part of what is tested: a busy machine may stop the test for a while.
  void pump_until(const std::function<bool()>& condition,
                  net::Duration patience = std::chrono::seconds(20));

  // `receive_buffer`: bytes that the kernel keeps for a peer that does not read; 0: its default.
  std::unique_ptr<Peer> connect_client(int receive_buffer = 0);
  // The next connection that the worker made to the origin.
  std::unique_ptr<Peer> accept_origin(std::size_t endpoint = 0);
  [[nodiscard]] bool origin_has_connection(std::size_t endpoint = 0);
  // Of connections that are made from now on.
  void set_origin_receive_buffer(int bytes);

  // What the router was told, in order.
  [[nodiscard]] const std::vector<Verdict>& verdicts() const { return verdicts_; }

  // Waits until at least `text` has been received by `peer` in all, and returns everything.
  std::string receive_until(Peer& peer, std::string_view text);

 private:
  ServerOptions options_;
  std::vector<Verdict> verdicts_;
  std::vector<net::FileDescriptor> origin_listeners_;  // One per endpoint.
  net::SocketAddress proxy_address_;
  std::unique_ptr<AdmissionCounters> admission_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace titanium::proxy::testing
