// SPDX-License-Identifier: MIT
//
// Servers in threads, for the tests of the generator, the origin, the controls and the shim.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "load/load.h"
#include "net/event_loop.h"
#include "net/tcp.h"
#include "origin/server.h"
#include "tls/certificates/certificate_authority.h"

namespace titanium::probe::testing {

inline net::SocketAddress loopback(std::uint16_t port) {
  return *net::SocketAddress::parse("127.0.0.1", port);
}

// A CA in a folder of its own with a certificate for "localhost".
class Certificates {
 public:
  Certificates() {
    std::string name = ::testing::TempDir() + "probe_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    const auto authority = tls::CertificateAuthority::open_or_create(folder_ + "/ca");
    const std::vector<std::string> names = {"localhost"};
    const auto leaf = authority->issue(names);
    write("leaf.pem", leaf->certificate_chain);
    write("leaf.key", leaf->private_key);
    write("root.pem", authority->root_pem());
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string folder_;
};

// Runs a loop in a thread until it is destroyed.
class LoopThread {
 public:
  explicit LoopThread(net::EventLoop& loop) : loop_(loop), thread_([&loop] { loop.run(); }) {}
  ~LoopThread() { loop_.stop(); }

 private:
  net::EventLoop& loop_;
  std::jthread thread_;
};

class OriginThread {
 public:
  explicit OriginThread(const OriginOptions& options = {.https = false,
                                                        .h2c = true,
                                                        .certificate_file = {},
                                                        .key_file = {}})
      : server_(OriginServer::create(loop_, options).value()) {
    thread_.emplace(loop_);
  }
  ~OriginThread() { thread_.reset(); }
  [[nodiscard]] std::uint16_t port() const { return server_->http_port(); }
  [[nodiscard]] std::uint16_t https_port() const { return server_->https_port(); }

 private:
  net::EventLoop loop_;
  std::unique_ptr<OriginServer> server_;
  std::optional<LoopThread> thread_;
};

inline OriginOptions with_tls(const Certificates& certificates) {
  return {.https = true,
          .h2c = true,
          .certificate_file = certificates.path("leaf.pem"),
          .key_file = certificates.path("leaf.key")};
}

// A blocking socket; gives up after ten seconds, which no test is meant to take.
class Peer {
 public:
  explicit Peer(net::FileDescriptor socket) : socket_(std::move(socket)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  static Peer connect(std::uint16_t port) {
    net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = loopback(port);
    EXPECT_EQ(::connect(socket.get(), address.get(), address.length()), 0);
    return Peer(std::move(socket));
  }
  [[nodiscard]] int fd() const { return socket_.get(); }
  // Fails quietly: what is sent to a peer that went away does not matter.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end() const { ::shutdown(fd(), SHUT_WR); }
  // Until the text ends with `end`, or the connection does.
  std::string read_until(std::string_view end) {
    std::string text;
    char byte = 0;
    while (!text.ends_with(end) && ::recv(fd(), &byte, 1, 0) == 1) text += byte;
    return text;
  }
  std::string read_exactly(std::size_t bytes) {
    std::string text(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t part = ::recv(fd(), text.data() + got, bytes - got, 0);
      if (part <= 0) break;
      got += static_cast<std::size_t>(part);
    }
    text.resize(got);
    return text;
  }
  std::string read_all() {
    std::string text;
    char buffer[64 * 1024];
    for (;;) {
      const ssize_t part = ::recv(fd(), buffer, sizeof buffer, 0);
      if (part <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(part));
    }
  }

 private:
  net::FileDescriptor socket_;
};

// An origin that does to each connection what a test says, in a thread per connection.
class ScriptedOrigin {
 public:
  using Script = std::function<void(Peer& peer, int connection)>;

  explicit ScriptedOrigin(Script script) : script_(std::move(script)) {
    socket_ = net::listen_tcp(loopback(0), {.reuse_port = false, .accepted = {}}).value();
    port_ = net::local_address_of(socket_.get()).port();
    acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
  }
  ~ScriptedOrigin() {
    acceptor_.request_stop();
    (void)::shutdown(socket_.get(), SHUT_RDWR);
    acceptor_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all(const std::stop_token& stop) {
    std::list<std::jthread> threads;
    // The sockets of listen_tcp() do not block; here a thread waits.
    const int flags = ::fcntl(socket_.get(), F_GETFL);
    ::fcntl(socket_.get(), F_SETFL, flags & ~O_NONBLOCK);
    while (!stop.stop_requested()) {
      net::FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) return;
      threads.emplace_back(
          [this, number = connections_++, peer = std::make_shared<Peer>(std::move(socket))] {
            script_(*peer, number);
          });
    }
  }

  Script script_;
  net::FileDescriptor socket_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::jthread acceptor_;
};

inline LoadOptions load_on(std::uint16_t port, const Workload& workload,
                           std::uint32_t concurrency = 4) {
  return {.target = {.address = loopback(port), .authority = "localhost:80", .ca_file = {}},
          .workload = workload,
          .concurrency = concurrency};
}

inline StepResult run_load(const LoadOptions& options,
                           std::chrono::milliseconds duration = std::chrono::milliseconds(100)) {
  auto generator = LoadGenerator::create(options);
  if (!generator) {
    ADD_FAILURE() << generator.error().what;
    return {};
  }
  return (*generator)->measure(duration);
}

// Every kind of exchange that the origin and the generator know.
struct NamedWorkload {
  const char* name;
  Workload workload;
};
inline std::vector<NamedWorkload> all_workloads() {
  using Kind = Workload::Kind;
  return {
      {"tiny", {}},
      {"body64k", {.response_bytes = 64 * 1024}},
      {"body256k", {.response_bytes = 256 * 1024}},
      {"body of another size", {.response_bytes = 100'001}},
      {"post64k", {.request_bytes = 64 * 1024, .response_bytes = 64 * 1024}},
      {"post for a tiny answer", {.request_bytes = 1000}},
      {"post for another body", {.request_bytes = 1000, .response_bytes = 70'000}},
      {"early64k", {.request_bytes = 64 * 1024, .early_response_after = 8 * 1024}},
      {"early answer with a body",
       {.request_bytes = 64 * 1024, .response_bytes = 64 * 1024, .early_response_after = 8 * 1024}},
      {"new connections", {.keep_alive = false}},
      {"post on new connections",
       {.request_bytes = 70'000, .response_bytes = 70'000, .keep_alive = false}},
      {"slow256k",
       {.response_bytes = 256 * 1024, .read_chunk_bytes = 64 * 1024, .read_pause_ms = 1}},
      {"websocket", {.kind = Kind::websocket}},
      {"websocket 200", {.kind = Kind::websocket, .message_bytes = 200}},
      {"websocket 200k", {.kind = Kind::websocket, .message_bytes = 200'000}},
      {"websocket empty", {.kind = Kind::websocket, .message_bytes = 0}},
  };
}

inline void expect_clean(const StepResult& result) {
  EXPECT_EQ(result.errors, 0) << result.first_error;
  EXPECT_GT(result.ok, 0);
  EXPECT_EQ(result.latency.count(), result.ok);
  EXPECT_FALSE(result.aborted);
  EXPECT_GE(result.measured.count(), 0.1);
}

}  // namespace titanium::probe::testing
