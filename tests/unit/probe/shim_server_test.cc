// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>

#include "load_support.h"
#include "shim/server.h"

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;
using testing::all_workloads;
using testing::expect_clean;
using testing::load_on;
using testing::LoopThread;
using testing::NamedWorkload;
using testing::OriginThread;
using testing::Peer;
using testing::run_load;
using testing::ScriptedOrigin;

class ShimThread {
 public:
  explicit ShimThread(const ShimOptions& options) : server_(ShimServer::create(loop_, options)) {
    thread_.emplace(loop_);
  }
  ~ShimThread() { thread_.reset(); }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // Once the thread has ended.
  [[nodiscard]] std::uint64_t stop() {
    thread_.reset();
    return server_->stalls();
  }

 private:
  net::EventLoop loop_;
  std::unique_ptr<ShimServer> server_;
  std::optional<LoopThread> thread_;
};

void echo(Peer& peer, int /*connection*/) {
  for (;;) {
    const std::string byte = peer.read_exactly(1);
    if (byte.empty()) return;
    peer.send(byte);
  }
}

milliseconds round_trip(const Peer& peer, Peer& reader) {
  const auto begin = std::chrono::steady_clock::now();
  peer.send("x");
  EXPECT_EQ(reader.read_exactly(1), "x");
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST(Shim, PassesEveryWorkloadUnchanged) {
  const OriginThread origin;
  const ShimThread shim({.target_port = origin.port(), .delay_ms = 1});
  for (const NamedWorkload& row : all_workloads()) {
    SCOPED_TRACE(row.name);
    expect_clean(run_load(load_on(shim.port(), row.workload)));
  }
}

TEST(Shim, DelaysBothDirections) {
  ScriptedOrigin origin(echo);
  const ShimThread shim({.target_port = origin.port(), .delay_ms = 15});
  Peer peer = Peer::connect(shim.port());
  for (int i = 0; i < 3; ++i) EXPECT_GE(round_trip(peer, peer), milliseconds(30));
}

// Delay is not a limit of the rate: buffers travel side by side.
TEST(Shim, DelaysBuffersAtTheSameTime) {
  const OriginThread origin;
  const ShimThread shim({.target_port = origin.port(), .delay_ms = 20});
  // 32 buffers one after another would take 640 ms.
  const StepResult result = run_load(load_on(shim.port(), {.response_bytes = 512 * 1024}, 1));
  expect_clean(result);
  EXPECT_GE(result.latency.percentile(0), 40'000);
  EXPECT_LT(result.latency.percentile(0), 500'000);
}

TEST(Shim, AStallHoldsABufferForARetransmissionTimeOut) {
  ScriptedOrigin origin(echo);
  ShimThread shim({.target_port = origin.port(), .stall_percent = 100});
  Peer peer = Peer::connect(shim.port());
  EXPECT_GE(round_trip(peer, peer), 2 * ShimServer::kStall);
  EXPECT_EQ(shim.stop(), 2);
}

TEST(Shim, StallsTheSameBuffersInEveryRun) {
  const auto run = [] {
    ScriptedOrigin origin(echo);
    ShimThread shim({.target_port = origin.port(), .stall_percent = 5});
    Peer peer = Peer::connect(shim.port());
    std::string stalled;
    for (int i = 0; i < 40; ++i) {
      stalled += round_trip(peer, peer) >= ShimServer::kStall ? '#' : '.';
    }
    return stalled;
  };
  const std::string first = run();
  EXPECT_NE(first.find('#'), std::string::npos);
  EXPECT_NE(first.find('.'), std::string::npos);
  EXPECT_EQ(run(), first);
}

TEST(Shim, PassesTheEndOfEachDirectionOn) {
  ScriptedOrigin origin([](Peer& peer, int) { peer.send("got " + peer.read_all()); });
  const ShimThread shim({.target_port = origin.port(), .delay_ms = 2});
  Peer peer = Peer::connect(shim.port());
  peer.send("bytes");
  peer.end();
  EXPECT_EQ(peer.read_all(), "got bytes");
}

TEST(Shim, ClosesTheClientIfTheTargetRefuses) {
  const auto socket = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  const std::uint16_t port = net::local_address_of(socket->get()).port();
  ::shutdown(socket->get(), SHUT_RDWR);
  const ShimThread shim({.target_port = port});
  EXPECT_EQ(Peer::connect(shim.port()).read_all(), "");
}

TEST(Shim, HoldsTheSenderBackWhenTheReceiverDoesNotRead) {
  std::atomic<std::size_t> taken = 0;
  ScriptedOrigin origin([&](Peer& peer, int) {
    for (int i = 0; i < 1000; ++i) {
      if (!peer.send(pattern())) return;
      taken += kPatternBytes;
    }
  });
  ShimThread shim({.target_port = origin.port()});
  Peer peer = Peer::connect(shim.port());
  peer.read_exactly(1);
  std::size_t before = 0;
  do {  // Until nothing moves any more.
    before = taken;
    std::this_thread::sleep_for(milliseconds(50));
  } while (taken != before);
  EXPECT_LT(before, 1000UL * kPatternBytes);
}

TEST(Shim, IsNotMadeOnATakenPort) {
  const auto taken = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  net::EventLoop loop;
  EXPECT_EQ(ShimServer::create(loop, {.port = net::local_address_of(taken->get()).port()}),
            nullptr);
}

}  // namespace
}  // namespace titanium::probe
