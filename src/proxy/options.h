// SPDX-License-Identifier: MIT
//
// Everything a proxy server can be told. Plain structs that know nothing of YAML: `cli` fills them
// from a configuration, tests write them inline.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "http2/options.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "proxy/routing.h"
#include "proxy/traffic_observer.h"
#include "tls/context.h"

namespace titanium::proxy {

// Zero means: no such time-out.
struct Timeouts {
  net::Duration idle{60'000};              // Keep-alive on both legs; reads and writes that stall.
  net::Duration connect{20'000};           // Name look-up, TCP and TLS to an origin.
  net::Duration client_handshake{10'000};  // TLS of a client.
  net::Duration client_header{30'000};     // First byte of a request head to its last.
  net::Duration response_header{0};        // Request sent to response head; 504.
  net::Duration idle_read{0};              // Between reads from the origin; 0: `idle` counts.
  net::Duration idle_write{0};             // Between writes to the origin; 0: `idle` counts.
  net::Duration request{0};                // The whole exchange.
  net::Duration tunnel_idle{3'600'000};    // Upgraded connections and event streams.
  net::Duration drain{10'000};             // From the stop signal to the hard stop.
};

struct Limits {
  http1::HeadLimits head;
  http1::BodyLimits body;
  std::uint32_t interim_responses = 20;             // 1xx per request.
  std::optional<std::uint64_t> request_body_bytes;  // Over it: 413.
  // Slowest request body, on the average of one Timeouts::idle, until the response begins: 408.
  std::uint64_t request_body_bytes_per_second = 0;
  std::optional<std::uint64_t> concurrent_clients;  // All listeners together; over it: 503.
};

struct Pooling {
  bool enabled = true;
  std::uint32_t idle_connections = 128;  // Kept per origin endpoint and worker.
  std::uint32_t http2_connections = 8;   // Per origin endpoint and worker.
  std::uint32_t retry_attempts = 1;      // After a failure that proves that nothing was processed.
  bool no_delay = true;
  bool tcp_keep_alive = true;
  bool ipv6_soft_skip = true;  // After IPv6 was unreachable, try it last for a while.
};

enum class ForwardedFields : std::uint8_t { none, x_forwarded, forwarded, both };

struct Forwarding {
  std::string via_pseudonym = "titanium";  // Empty: no Via and no loop detection.
  ForwardedFields fields = ForwardedFields::x_forwarded;
  // False: what a client says of itself in these fields is replaced. True: appended to.
  bool trust_incoming = false;
};

struct ListenerOptions {
  // An already listening socket per worker is made by Server; port 0 takes a free one for all.
  net::SocketAddress address;
  std::shared_ptr<const tls::ServerContext> tls;  // Null: clear.
  std::optional<std::uint64_t> concurrent_clients;
  bool http2 = true;  // Clear: by prior knowledge. With TLS it is for the ALPN of `tls` to say.
};

struct ServerOptions {
  std::vector<ListenerOptions> listeners;
  std::vector<OriginEndpoint> endpoints;  // All origins of all clusters.
  // Makes the router of a listener for one worker; called on the starting thread.
  // `endpoints` is the server's own copy: routers refer to its elements.
  std::function<std::unique_ptr<Router>(std::size_t listener,
                                        const std::vector<OriginEndpoint>& endpoints)>
      make_router;
  unsigned workers = 0;  // 0: one per core.
  int listen_backlog = 1024;
  std::string dns_server;  // "host:port"; empty: the system's.
  Timeouts timeouts;
  Limits limits;
  http2::Options http2;
  Pooling pooling;
  Forwarding forwarding;
  Logger logger;
  TrafficObserver* observer = nullptr;  // Null: nobody wants to know, and nothing is recorded.
};

}  // namespace titanium::proxy
