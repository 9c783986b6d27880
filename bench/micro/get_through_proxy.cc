// SPDX-License-Identifier: MIT
//
// What one GET costs in the proxy itself: client session, routing, exchange, pooled origin
// connection and back, over connections that exist in memory only. What the kernel's sockets cost
// comes on top; of the kernel only the loop's look at epoll is left, once per turn.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/options.h"
#include "proxy/origin/http1_origin_connection.h"
#include "proxy/worker.h"
#include "support/counting_allocator.h"
#include "support/memory_transport.h"

namespace titanium::proxy {
namespace {

constexpr std::string_view kGet =
    "GET /json HTTP/1.1\r\n"
    "Host: 127.0.0.1:8080\r\n"
    "User-Agent: bench\r\n"
    "Accept: */*\r\n"
    "\r\n";
constexpr std::string_view kHeadOfAnswer =
    "HTTP/1.1 200 OK\r\n"
    "Server: bench\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "Content-Type: application/json\r\n"
    "Content-Length: ";

[[nodiscard]] std::string answer_of(std::size_t body_bytes) {
  return std::string(kHeadOfAnswer) + std::to_string(body_bytes) + "\r\n\r\n" +
         std::string(body_bytes, 'b');
}

// All requests go to the one origin.
class OneOrigin final : public Router, private OriginGroup {
 public:
  explicit OneOrigin(const OriginEndpoint& endpoint) : endpoint_(endpoint) {}
  RouteDecision route(const http::RequestHead& /*head*/) override {
    return {.group = this, .settings = nullptr};
  }

 private:
  const OriginEndpoint* pick(std::span<const OriginEndpoint* const> tried,
                             net::TimePoint /*now*/) override {
    return tried.empty() ? &endpoint_ : nullptr;
  }
  void started(const OriginEndpoint& /*endpoint*/) override {}
  void finished(const OriginEndpoint& /*endpoint*/, bool /*failed*/,
                net::TimePoint /*now*/) override {}

  const OriginEndpoint& endpoint_;
};

[[nodiscard]] ServerOptions options_of_proxy() {
  ServerOptions options;
  options.listeners.emplace_back();
  options.endpoints.emplace_back();
  options.endpoints.back().host = "127.0.0.1";
  options.make_router = [](std::size_t, const std::vector<OriginEndpoint>& endpoints) {
    return std::make_unique<OneOrigin>(endpoints.front());
  };
  return options;
}

// A worker with one client and one idle connection to its origin.
class Proxy {
 public:
  explicit Proxy(std::string answer)
      : options_(options_of_proxy()),
        worker_(options_, {}, admission_),
        answer_(std::move(answer)) {
    auto [client, session_end] = test::MemoryTransport::make_pair(worker_.loop());
    auto [origin, pool_end] = test::MemoryTransport::make_pair(worker_.loop());
    client_ = std::move(client);
    origin_ = std::move(origin);
    worker_.start_session(std::move(session_end), 0, {});
    OriginPool& pool = worker_.pool(options_.endpoints.front());
    auto connection = std::make_unique<Http1OriginConnection>(pool, std::move(pool_end));
    Http1OriginConnection& idle = *connection;
    pool.add(std::move(connection));
    pool.put_idle(idle);
  }

  // One exchange. Returns the turns of the loop that it took; ends the program if it fails.
  std::size_t get() {
    client_->send(kGet);
    std::size_t turns = turn_until(*origin_, kGet.size());
    (void)take(*origin_);
    origin_->send(answer_);
    // The proxy leaves out nothing of this answer, and adds to it.
    std::size_t received = 0;
    while (received < answer_.size()) {
      turns += turn_until(*client_, 1);
      received += take(*client_);
    }
    return turns;
  }

 private:
  // The proxy adds to a message, so that `at_least` bytes are on their way if all goes well.
  std::size_t turn_until(const test::MemoryTransport& end, std::size_t at_least) {
    std::size_t turns = 0;
    while (end.unread().size() < at_least) {
      worker_.loop().run_once(net::Duration(0));
      if (++turns > 1000) std::abort();
    }
    return turns;
  }

  std::size_t take(test::MemoryTransport& end) {
    std::size_t taken = 0;
    for (;;) {
      const net::ReadResult read = end.read(buffer_);
      if (read.status != net::ReadResult::Status::bytes) return taken;
      taken += read.bytes;
    }
  }

  ServerOptions options_;
  AdmissionCounters admission_{1};
  Worker worker_;
  std::unique_ptr<test::MemoryTransport> client_;
  std::unique_ptr<test::MemoryTransport> origin_;
  std::string answer_;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(256 * 1024);
};

void get_through_proxy(benchmark::State& state) {
  Proxy proxy(answer_of(static_cast<std::size_t>(state.range(0))));
  for (int i = 0; i < 100; ++i) proxy.get();  // Tables and pools grow to what is needed.
  std::size_t turns = 0;
  std::size_t allocations = 0;
  for (auto _ : state) {
    const std::size_t before = test::allocations();
    turns += proxy.get();
    allocations += test::allocations() - before;
  }
  using benchmark::Counter;
  state.counters["allocations"] =
      Counter(static_cast<double>(allocations), Counter::kAvgIterations);
  state.counters["turns"] = Counter(static_cast<double>(turns), Counter::kAvgIterations);
}
// The tiny JSON of the load probe, and larger bodies.
BENCHMARK(get_through_proxy)->Arg(56)->Arg(16 * 1024)->Arg(64 * 1024);

}  // namespace
}  // namespace titanium::proxy
