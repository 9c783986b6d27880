// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <unordered_map>

#include "base/chunk.h"
#include "net/event_loop.h"
#include "net/tcp.h"
#include "service/alarm_clock.h"
#include "shim/shim.h"

namespace titanium::probe {

// The shim on a loop, for a process of its own (serve_shim) and for tests.
class ShimServer final : private net::AcceptHandler {
 public:
  // A retransmission time-out as kernels choose it on a short path (RFC 6298 wants one second, and
  // nobody waits so long).
  static constexpr std::chrono::milliseconds kStall{200};
  // One read, and what a stall hits. About eleven packets of Ethernet size.
  static constexpr std::size_t kBufferBytes = 16 * 1024;
  // In flight per direction; then the sender has to wait, as behind a full congestion window.
  static constexpr std::size_t kWindowBytes = 1024 * 1024;

  // Null if the port is taken.
  [[nodiscard]] static std::unique_ptr<ShimServer> create(net::EventLoop& loop,
                                                          const ShimOptions& options);
  ~ShimServer();

  [[nodiscard]] std::uint16_t port() const noexcept;
  // Buffers that were stalled so far.
  [[nodiscard]] std::uint64_t stalls() const noexcept { return stalls_; }

 private:
  class Connection;
  class Direction;

  ShimServer(net::EventLoop& loop, const ShimOptions& options, net::FileDescriptor socket);
  void on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) override;
  void remove(Connection& connection);

  net::EventLoop& loop_;
  ShimOptions options_;
  ChunkPool pool_;
  AlarmClock alarms_;
  std::uint64_t accepted_ = 0;
  std::uint64_t stalls_ = 0;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  net::TcpListener listener_;
};

}  // namespace titanium::probe
