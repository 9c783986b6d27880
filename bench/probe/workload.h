// SPDX-License-Identifier: MIT
//
// What is sent and answered in an arm: agreed between the generator and the origin.
#pragma once

#include <cstdint>
#include <string_view>

namespace titanium::probe {

// How a leg talks. The names of row keys (h1c, h1tls, …) and of arms are made from these.
enum class Wire : std::uint8_t { http1, http1_tls, h2c, http2_tls, http3 };
[[nodiscard]] constexpr bool is_tls(Wire wire) noexcept {
  return wire == Wire::http1_tls || wire == Wire::http2_tls || wire == Wire::http3;
}
[[nodiscard]] constexpr bool is_http1(Wire wire) noexcept {
  return wire == Wire::http1 || wire == Wire::http1_tls;
}
[[nodiscard]] constexpr bool is_http2(Wire wire) noexcept {
  return wire == Wire::h2c || wire == Wire::http2_tls;
}

struct Workload {
  enum class Kind : std::uint8_t { request, websocket, grpc };
  Kind kind = Kind::request;
  // POST with this body, if not 0; else GET.
  std::uint32_t request_bytes = 0;
  // Body of the answer; 0: the tiny JSON of about 56 bytes.
  std::uint32_t response_bytes = 0;
  bool keep_alive = true;
  // The origin answers after so many bytes of the request; 0: when it is complete.
  std::uint32_t early_response_after = 0;
  // Slow consumer: the client reads so many bytes, then waits. 0: reads all there is.
  std::uint32_t read_chunk_bytes = 0;
  std::uint32_t read_pause_ms = 0;
  // WebSocket and gRPC: bytes of each message that is echoed.
  std::uint32_t message_bytes = 64;
};

}  // namespace titanium::probe
