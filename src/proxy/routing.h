// SPDX-License-Identifier: MIT
//
// How the exchange engine asks where a request goes. Declared here, implemented above (route,
// cluster): the engine knows neither route tables nor balancing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/outcome.h"
#include "http/message.h"
#include "net/event_loop.h"
#include "tls/context.h"

namespace titanium::proxy {

// What is spoken to an origin.
enum class OriginProtocol : std::uint8_t {
  automatic,  // With TLS what ALPN chooses, HTTP/2 preferred; without, HTTP/1.1.
  http1,
  http2,  // Without TLS by prior knowledge (RFC 9113 §3.3).
};

// One origin server address. Immutable, shared by all workers.
struct OriginEndpoint {
  std::size_t index = 0;  // Position in ServerOptions::endpoints.
  std::string id;         // For logs.
  std::string host;       // Name or IP literal.
  std::uint16_t port = 80;
  OriginProtocol protocol = OriginProtocol::automatic;
  std::shared_ptr<const tls::ClientContext> tls;  // Null: clear. Its ALPN is that of `protocol`.
  // With `automatic`: offers HTTP/1.1 alone, for upgrades that the origin's HTTP/2 does not carry.
  std::shared_ptr<const tls::ClientContext> tls_http1;
  std::string server_name;  // For SNI and verification; empty: `host`.
  // Sent as Host instead of what the client asked for; empty: the client's.
  std::string authority_override;
  std::optional<std::uint32_t> idle_connections;  // Instead of Pooling::idle_connections.
};

// A group of endpoints that can all serve a request. One object per worker.
class OriginGroup {
 public:
  // The endpoint to try next, none of `tried`; nullptr if there is none left.
  [[nodiscard]] virtual const OriginEndpoint* pick(std::span<const OriginEndpoint* const> tried,
                                                   net::TimePoint now) = 0;
  // An exchange was given to the endpoint, and has ended; `failed` means that no connection could
  // be had, or that it broke before a response.
  virtual void started(const OriginEndpoint& endpoint) = 0;
  virtual void finished(const OriginEndpoint& endpoint, Outcome outcome, net::TimePoint now) = 0;

 protected:
  ~OriginGroup() = default;
};

// What a route says of its exchanges. Lives as long as the router.
struct RouteSettings {
  std::optional<net::Duration> request_timeout;
  std::optional<net::Duration> idle_timeout;
};

struct RouteDecision {
  OriginGroup* group = nullptr;             // Null: no route matches, 404.
  const RouteSettings* settings = nullptr;  // Null: the server's.
};

// One object per worker and listener. Must not allocate in the steady state.
class Router {
 public:
  virtual ~Router() = default;
  [[nodiscard]] virtual RouteDecision route(const http::RequestHead& head) = 0;
};

}  // namespace titanium::proxy
