// SPDX-License-Identifier: MIT
#include "report/row_key.h"

#include <algorithm>

namespace titanium::probe {
namespace {

constexpr std::array<std::string_view, kWires.size() + 1> kWireWords = {
    "HTTP/1 · plain", "HTTP/1 · TLS", "HTTP/2 · plain", "HTTP/2 · TLS", "HTTP/3 · QUIC", "–"};

constexpr auto kGroups = std::to_array<WorkloadGroup>({
    {"Tiny GET", "Keep-alive GET of a JSON text of about 56 bytes.", "requests/s", false},
    {"Larger bodies", "Keep-alive GET of 64 and 256 KiB.", "requests/s", true},
    {"POST", "64 KiB up and 64 KiB down.", "requests/s", false},
    {"What TLS costs", "A TLS client leg: kept alive, and with a new connection per request.",
     "requests/s", true},
    {"A lossy link", "GET of 64 KiB through 5 ms each way and 1 % of buffers that stall.",
     "requests/s", false},
    {"Architecture", "A slow reader, an early answer, and both directions at once.", "requests/s",
     true},
    {"gRPC", "Unary Echo.", "calls/s", true},
    {"Other workloads", "As their names say.", "requests/s", true},
});

struct Workload {
  std::string_view suffix;
  std::string_view words;
  std::size_t group;
};
constexpr auto kWorkloads = std::to_array<Workload>({
    {"", "tiny GET", 0},
    {"body64k", "64 KiB", 1},
    {"body256k", "256 KiB", 1},
    {"post64k", "POST 64 KiB", 2},
    {"ka-tiny", "keep-alive, tiny GET", 3},
    {"nc-tiny", "new connection, tiny GET", 3},
    {"ka-256k", "keep-alive, GET 256 KiB", 3},
    {"lossy", "lossy link", 4},
    {"slow256k", "slow reader: GET 256 KiB, reads 16 KiB, waits 8 ms", 5},
    {"early64k", "early answer: POST 64 KiB, answered after 8 KiB", 5},
    {"duplex-h2", "duplex: POST 64 KiB, both directions live", 5},
    {"duplex-ws", "WebSocket echo", 5},
    {"duplex-ws-h1tls", "WebSocket echo", 5},
    {"duplex-ws-h2", "WebSocket echo over RFC 8441", 5},
    {"grpc", "unary Echo", 6},
    {"grpc-h2c", "unary Echo", 6},
});
constexpr std::size_t kOther = kGroups.size() - 1;
static_assert(std::ranges::all_of(kWorkloads, [](const Workload& w) { return w.group < kOther; }));

struct Product {
  std::string_view name;
  std::string_view words;
};
constexpr auto kProducts = std::to_array<Product>({
    {"titanium", "Titanium"},
    {"nginx", "nginx"},
    {"haproxy", "HAProxy"},
    {"envoy", "Envoy"},
    {"yarp", "YARP"},
    {"caddy", "Caddy"},
    {"nghttpx", "nghttpx"},
    {"apache", "Apache"},
    {"varnish", "Varnish"},
    {"h2o", "h2o"},
    {"squid", "Squid"},
    {"bare-reverse-http1", "bare-reverse-http1"},
    {"bare-relay", "bare-relay"},
    {"origin-direct", "origin-direct"},
});

[[nodiscard]] const Workload* find_workload(std::string_view suffix) noexcept {
  const auto* const found = std::ranges::find(kWorkloads, suffix, &Workload::suffix);
  return found == kWorkloads.end() ? nullptr : found;
}

// Takes "h1c" off "h1c-h1tls-body64k", with its hyphen.
[[nodiscard]] std::size_t take_wire(std::string_view& key) noexcept {
  const std::string_view word = key.substr(0, key.find('-'));
  const auto* const found = std::ranges::find(kWires, word);
  if (found == kWires.end()) return kWires.size();
  key.remove_prefix(std::min(key.size(), word.size() + 1));
  return static_cast<std::size_t>(found - kWires.begin());
}

}  // namespace

RowKey parse_row_key(std::string_view key) {
  std::string_view rest = key;
  RowKey parsed;
  parsed.client = take_wire(rest);
  if (parsed.client < kWires.size()) parsed.origin = take_wire(rest);
  if (parsed.origin == kWires.size()) return {.workload = std::string(key)};
  parsed.workload = rest;
  return parsed;
}

std::string_view wire_words(std::size_t wire) noexcept {
  return kWireWords[std::min(wire, kWires.size())];
}

std::string_view workload_words(std::string_view workload) noexcept {
  const Workload* known = find_workload(workload);
  return known == nullptr ? workload : known->words;
}

std::string_view product_words(std::string_view product) noexcept {
  const auto* const found = std::ranges::find(kProducts, product, &Product::name);
  return found == kProducts.end() ? product : found->words;
}

std::size_t group_of(std::string_view workload) noexcept {
  const Workload* known = find_workload(workload);
  return known == nullptr ? kOther : known->group;
}

const WorkloadGroup& workload_group(std::size_t group) noexcept {
  return kGroups[std::min(group, kOther)];
}

std::size_t row_rank(const RowKey& key) noexcept {
  const auto workload = static_cast<std::size_t>(
      std::ranges::find(kWorkloads, key.workload, &Workload::suffix) - kWorkloads.begin());
  const std::size_t wires = kWires.size() + 1;
  return (workload * wires + key.client) * wires + key.origin;
}

std::size_t product_rank(std::string_view product) noexcept {
  return static_cast<std::size_t>(std::ranges::find(kProducts, product, &Product::name) -
                                  kProducts.begin());
}

}  // namespace titanium::probe
