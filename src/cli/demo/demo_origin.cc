// SPDX-License-Identifier: MIT
#include "cli/demo/demo_origin.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/chunk.h"
#include "cli/demo/connection.h"
#include "cli/signals.h"
#include "net/event_loop.h"
#include "net/tcp.h"

namespace titanium::cli::demo {
namespace {

constexpr std::size_t kMaxConnections = 10'000;

// Everything that lives on the demo origin's thread.
class Service final : private net::AcceptHandler, private ConnectionOwner {
 public:
  Service(net::EventLoop& loop, net::FileDescriptor socket, Logger logger)
      : loop_(loop), listener_(loop, std::move(socket), *this, logger) {}
  ~Service() = default;

 private:
  void on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) override {
    const std::uint64_t id = next_id_++;
    auto transport = net::make_tcp_transport(loop_, std::move(socket), peer, {});
    connections_.emplace(
        id, std::make_unique<Connection>(
                Connection::Context{.loop = loop_, .pool = pool_, .date = date_, .owner = *this},
                id, std::move(transport)));
    if (connections_.size() >= kMaxConnections) listener_.pause();
  }
  void retire(Connection& connection) override {
    auto node = connections_.extract(connection.id());
    if (node.empty()) return;
    loop_.destroy_later(std::move(node.mapped()));
    if (connections_.size() + 1 == kMaxConnections) listener_.resume();
  }
  void resume_soon(Connection& connection) override {
    // By number: the connection may be gone by then. The service outlives the loop's run().
    loop_.post([this, id = connection.id()] {
      const auto at = connections_.find(id);
      if (at != connections_.end()) at->second->resume();
    });
  }

  net::EventLoop& loop_;
  ChunkPool pool_;
  http::DateCache date_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_id_ = 1;
  net::TcpListener listener_;
};

}  // namespace

struct DemoOrigin::Impl {
  net::SocketAddress address;
  net::EventLoop loop;
  std::thread thread;
};

std::expected<std::unique_ptr<DemoOrigin>, std::string> DemoOrigin::start(Logger logger) {
  const auto loopback = net::SocketAddress::parse("127.0.0.1", 0);
  auto socket = net::listen_tcp(*loopback, {.reuse_port = false, .accepted = {}});
  if (!socket) {
    return std::unexpected(fmt::format("the demo origin cannot listen on 127.0.0.1: {}",
                                       std::strerror(socket.error().native)));
  }
  auto impl = std::make_unique<Impl>();
  impl->address = net::local_address_of(socket->get());
  impl->thread = std::thread(
      [](net::EventLoop& loop, net::FileDescriptor listening, Logger log) {
        block_all_signals();
        Service service(loop, std::move(listening), log);
        loop.run();
      },
      std::ref(impl->loop), std::move(*socket), logger);
  return std::unique_ptr<DemoOrigin>(new DemoOrigin(std::move(impl)));
}

DemoOrigin::DemoOrigin(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DemoOrigin::~DemoOrigin() {
  impl_->loop.stop();
  impl_->thread.join();
}

const net::SocketAddress& DemoOrigin::address() const noexcept { return impl_->address; }

}  // namespace titanium::cli::demo
