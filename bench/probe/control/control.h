// SPDX-License-Identifier: MIT
//
// Controls: what a proxy costs at least. `bare-relay` copies bytes between two sockets and knows no
// HTTP: the floor. `bare-reverse-http1` parses heads and bodies just enough to use pooled origin
// connections. Both are written straight on epoll, not on Titanium's engine: a control that shares
// the code it is compared with would hide what that code costs.
#pragma once

#include <cstdint>
#include <string>

namespace titanium::probe {

struct ControlOptions {
  enum class Kind : std::uint8_t { relay, reverse_http1 };
  Kind kind = Kind::relay;
  std::uint16_t port = 0;  // 127.0.0.1; 0 takes a free one.
  std::uint16_t origin_port = 0;
  std::string certificate_file;  // With both, the client leg is TLS (bare-reverse-http1-tls).
  std::string key_file;
};

// As serve_origin(): prints "ready port=PORT", serves until a signal or until its parent has gone.
[[nodiscard]] int serve_control(const ControlOptions& options);

}  // namespace titanium::probe
