// SPDX-License-Identifier: MIT
//
// The origin of every arm: a small, fast HTTP server on Titanium's loop and codecs, one thread.
//
//   GET  /                the tiny JSON
//   GET  /bytes/N         N bytes; the same pattern for every N (the generator checks it)
//   POST /bytes/N         reads the body, answers N bytes
//   POST /                reads the body, answers the tiny JSON
//   POST /echo            answers with the body while it arrives
//   POST /early/N         answers with the tiny JSON after N bytes of the body, reads on
//   POST /early/N/M       the same with M bytes
//   GET  /ws              WebSocket echo (RFC 6455; over HTTP/2 RFC 8441)
//   POST /grpc.Echo/Unary gRPC: answers with the message; HTTP/2 only
#pragma once

#include <cstdint>
#include <string>

namespace titanium::probe {

struct OriginOptions {
  std::uint16_t http_port = 0;  // 127.0.0.1; 0 takes a free one.
  std::uint16_t https_port = 0;
  bool https = true;
  bool h2c = false;              // HTTP/2 by prior knowledge on the clear port too.
  bool https_http2 = true;       // By ALPN.
  std::string certificate_file;  // PEM, for https.
  std::string key_file;
};

// Serves until SIGTERM or SIGINT, or until its parent has gone. Prints one line when it listens:
// "ready http=PORT https=PORT". Returns the exit code.
[[nodiscard]] int serve_origin(const OriginOptions& options);

}  // namespace titanium::probe
