// SPDX-License-Identifier: MIT
#include "arms/workloads.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace titanium::probe {
namespace {

constexpr std::uint32_t kKiB = 1024;
constexpr Workload kWebSocket = {.kind = Workload::Kind::websocket};
constexpr Workload kGrpc = {.kind = Workload::Kind::grpc};

constexpr auto kWorkloads = std::to_array<WorkloadRow>({
    {.suffix = "", .workload = {}, .meaning = "tiny GET, connections kept"},
    {.suffix = "-body64k",
     .workload = {.response_bytes = 64 * kKiB},
     .slo = SloClass::body,
     .meaning = "GET 64 KiB"},
    {.suffix = "-body256k",
     .workload = {.response_bytes = 256 * kKiB},
     .slo = SloClass::body,
     .meaning = "GET 256 KiB"},
    {.suffix = "-post64k",
     .workload = {.request_bytes = 64 * kKiB, .response_bytes = 64 * kKiB},
     .slo = SloClass::body,
     .meaning = "POST 64 KiB, answered with 64 KiB"},
    {.suffix = "-lossy",
     .workload = {.response_bytes = 64 * kKiB},
     .slo = SloClass::lossy,
     .delay_ms = 5,
     .loss_percent = 1,
     .meaning = "GET 64 KiB over a link with 5 ms each way and 1 % stalls"},
    {.suffix = "-slow256k",
     .workload = {.response_bytes = 256 * kKiB, .read_chunk_bytes = 16 * kKiB, .read_pause_ms = 8},
     .slo = SloClass::architecture,
     .meaning = "GET 256 KiB, the client reads 16 KiB and pauses for 8 ms"},
    {.suffix = "-early64k",
     .workload = {.request_bytes = 64 * kKiB, .early_response_after = 8 * kKiB},
     .slo = SloClass::architecture,
     .meaning = "POST 64 KiB, the origin answers after 8 KiB"},
    {.suffix = "-duplex-h2",
     .workload = {.request_bytes = 64 * kKiB,
                  .response_bytes = 64 * kKiB,
                  .early_response_after = 8 * kKiB},
     .slo = SloClass::architecture,
     .meaning = "POST 64 KiB, the origin answers with 64 KiB after 8: both directions live"},
    {.suffix = "-duplex-ws",
     .workload = kWebSocket,
     .slo = SloClass::architecture,
     .meaning = "WebSocket echo"},
    {.suffix = "-duplex-ws-h1tls",
     .workload = kWebSocket,
     .slo = SloClass::architecture,
     .meaning = "WebSocket echo, TLS on both legs"},
    {.suffix = "-duplex-ws-h2",
     .workload = kWebSocket,
     .slo = SloClass::architecture,
     .meaning = "WebSocket echo, over extended CONNECT (RFC 8441) from the client"},
    {.suffix = "-grpc", .workload = kGrpc, .meaning = "gRPC, unary Echo of 64 bytes"},
    {.suffix = "-grpc-h2c",
     .workload = kGrpc,
     .meaning = "gRPC, unary Echo of 64 bytes, clear to the origin"},
    {.suffix = "-ka-tiny", .workload = {}, .meaning = "TLS cost: tiny GET, connections kept"},
    {.suffix = "-nc-tiny",
     .workload = {.keep_alive = false},
     .slo = SloClass::handshake,
     .meaning = "TLS cost: tiny GET, a new connection each"},
    {.suffix = "-ka-256k",
     .workload = {.response_bytes = 256 * kKiB},
     .slo = SloClass::body,
     .meaning = "TLS cost: GET 256 KiB, connections kept"},
});

[[nodiscard]] bool is_http3(Wire client, Wire origin) {
  return client == Wire::http3 || origin == Wire::http3;
}

}  // namespace

std::span<const WorkloadRow> workloads() { return kWorkloads; }

const WorkloadRow& workload_row(std::string_view suffix) {
  const auto row = std::ranges::find(kWorkloads, suffix, &WorkloadRow::suffix);
  TI_ASSERT(row != kWorkloads.end());
  return *row;
}

std::chrono::milliseconds p99_limit(SloClass slo, Wire client, Wire origin) {
  using std::chrono::milliseconds;
  switch (slo) {
    case SloClass::tiny:
      if (is_http3(client, origin)) return milliseconds(150);
      return milliseconds(is_http2(client) ? 100 : 50);
    case SloClass::handshake:
      return milliseconds(200);
    case SloClass::body:
      return milliseconds(500);
    case SloClass::lossy:
      return milliseconds(2000);
    case SloClass::architecture:
      return milliseconds(5000);
  }
  return milliseconds(0);
}

}  // namespace titanium::probe
