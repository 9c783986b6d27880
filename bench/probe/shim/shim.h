// SPDX-License-Identifier: MIT
//
// A bad network on one machine: a TCP relay between client and proxy that delays every buffer and
// stalls connections, in user space, so that it needs no privileges and hits every arm alike.
#pragma once

#include <cstdint>

namespace titanium::probe {

struct ShimOptions {
  std::uint16_t port = 0;  // 127.0.0.1; 0 takes a free one.
  std::uint16_t target_port = 0;
  std::uint32_t delay_ms = 0;  // One way, for each buffer, in both directions.
  // Chance that a buffer stalls its direction for a retransmission time-out (200 ms), as a lost
  // packet does. The sequence is the same in every run (fixed seed).
  double stall_percent = 0;
};

// As serve_origin(): prints "ready port=PORT".
[[nodiscard]] int serve_shim(const ShimOptions& options);

}  // namespace titanium::probe
