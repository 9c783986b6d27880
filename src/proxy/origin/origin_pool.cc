// SPDX-License-Identifier: MIT
#include "proxy/origin/origin_pool.h"

#include <algorithm>
#include <utility>

#include "http/message.h"
#include "proxy/exchange.h"
#include "proxy/origin/http1_origin_connection.h"
#include "proxy/origin/http2_origin_connection.h"
#include "proxy/origin/origin_connect.h"
#include "proxy/origin/origin_request.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

// How many exchanges one shared connection in the making is counted for: what RFC 9113 §6.5.2
// advises an origin to allow at least.
constexpr std::size_t kAssumedStreams = 100;
constexpr net::Duration kGrowthPause{1000};

constexpr Error kNotHttp2{.code = Code::protocol,
                          .side = Side::origin,
                          .retry = Retry::always,
                          .what = "the origin does not speak HTTP/2 (upstreamHttpProtocol: http2)"};

// Nobody's fault but the configuration's: the origin stays in use.
constexpr Error kNoWebSocket{
    .code = Code::unsupported,
    .side = Side::self,
    .status = 501,
    .what = "the origin takes no WebSocket over HTTP/2 (RFC 8441, upstreamHttpProtocol: http2)"};

}  // namespace

OriginPool::OriginPool(Worker& worker, const OriginEndpoint& endpoint)
    : worker_(worker),
      endpoint_(endpoint),
      speaks_(expected_of(endpoint)),
      expiry_(worker.loop(), *this) {
  const Pooling& pooling = worker.options().pooling;
  if (pooling.enabled) max_idle_ = endpoint.idle_connections.value_or(pooling.idle_connections);
}

OriginPool::~OriginPool() {
  while (OriginRequest* request = waiting_.pop_front()) delete request;
  while (OriginConnect* attempt = attempts_.pop_front()) delete attempt;
  while (Http1OriginConnection* connection = busy_.pop_front()) delete connection;
  while (Http1OriginConnection* connection = idle_.pop_front()) delete connection;
  while (Http2OriginConnection* connection = shared_.pop_front()) delete connection;
}

OriginPool::Speaks OriginPool::expected_of(const OriginEndpoint& endpoint) noexcept {
  switch (endpoint.protocol) {
    case OriginProtocol::http1:
      return Speaks::http1;
    case OriginProtocol::http2:
      return Speaks::http2;
    case OriginProtocol::automatic:
      // Without TLS there is no ALPN to ask with.
      return endpoint.tls == nullptr ? Speaks::http1 : Speaks::unknown;
  }
  return Speaks::http1;
}

// ---- Giving streams to exchanges

OriginRequest* OriginPool::acquire(Exchange& exchange, Wanted wanted) {
  const bool http1_only = needs_http1(exchange);
  if (wanted == Wanted::any && (speaks_ == Speaks::http1 || http1_only)) {
    // A request that can be sent again need not be protected from a connection that was closed a
    // moment ago; all others are worth a system call.
    const http::RequestHead& head = exchange.request();
    const bool must_be_live = !http::is_idempotent(head.method) || !head.body.is_empty();
    if (Http1OriginConnection* connection = take_idle(must_be_live)) {
      connection->begin(exchange);
      exchange.on_origin_ready(*connection, /*reused=*/true);
      return nullptr;
    }
  }
  if (!http1_only && open_stream(exchange)) return nullptr;
  if (refuses(exchange)) {
    exchange.on_origin_failed(kNoWebSocket);
    return nullptr;
  }
  auto request = std::make_unique<OriginRequest>(*this, exchange, http1_only);
  waiting_.push_back(*request);
  adjust_attempts(http1_only);
  return request.release();
}

// An upgrade travels over HTTP/2 as extended CONNECT, if it is a WebSocket and the origin takes
// those (RFC 8441 §3). Where the choice is ours, HTTP/1 is used otherwise.
bool OriginPool::needs_http1(const Exchange& exchange) const {
  if (exchange.upgrade().empty() || endpoint_.protocol != OriginProtocol::automatic) return false;
  if (speaks_ == Speaks::http1) return false;  // They all are.
  bool refused = !http::equals_ignore_case(exchange.upgrade(), "websocket");
  const_cast<OriginPool*>(this)->shared_.for_each([&](Http2OriginConnection& connection) {
    refused = refused || connection.refuses_extended_connect();
  });
  return refused;
}

// The origin was configured to be spoken to over HTTP/2, and carries no WebSocket there.
bool OriginPool::refuses(const Exchange& exchange) {
  if (endpoint_.protocol != OriginProtocol::http2) return false;
  if (!http::equals_ignore_case(exchange.upgrade(), "websocket")) return false;
  bool refused = false;
  shared_.for_each([&](Http2OriginConnection& connection) {
    refused = refused || connection.refuses_extended_connect();
  });
  return refused;
}

bool OriginPool::open_stream(Exchange& exchange) {
  Http2OriginConnection* chosen = nullptr;
  shared_.for_each([&](Http2OriginConnection& connection) {
    if (chosen == nullptr && connection.can_carry(exchange)) chosen = &connection;
  });
  if (chosen == nullptr) return false;
  const bool reused = chosen->was_used();
  OriginStream& stream = chosen->open(exchange);
  exchange.on_origin_ready(stream, reused);
  return true;
}

Http1OriginConnection* OriginPool::take_idle(bool must_be_live) {
  while (Http1OriginConnection* connection = idle_.pop_front()) {
    --idle_count_;
    connection->set_idle(false);
    busy_.push_back(*connection);
    if (connection->is_usable(must_be_live)) return connection;
    remove(*connection);
  }
  return nullptr;
}

void OriginPool::serve_waiting() {
  waiting_.for_each([this](OriginRequest& request) {
    if (request.is_http1_only()) return;
    Exchange& exchange = request.exchange();
    if (needs_http1(exchange)) {
      // Found out only now, with the origin's SETTINGS.
      request.require_http1();
      return;
    }
    if (open_stream(exchange)) return forget(request);
    if (!refuses(exchange)) return;
    forget(request);
    exchange.on_origin_failed(kNoWebSocket);
  });
  // Once, when it is clear who still waits: each one alone would look like a reason to grow.
  adjust_attempts();
}

// ---- Connections in the making

std::size_t OriginPool::attempts_wanted(bool http1_only) {
  std::size_t waiting = 0;
  waiting_.for_each(
      [&](OriginRequest& request) { waiting += request.is_http1_only() == http1_only ? 1U : 0U; });
  if (http1_only || speaks_ == Speaks::http1 || waiting == 0) return waiting;
  if (speaks_ == Speaks::unknown) return 1;
  std::size_t live = 0;
  shared_.for_each([&](Http2OriginConnection& connection) {
    if (!connection.is_open()) return;
    ++live;
    // It takes more as soon as it has said how many.
    if (connection.awaits_settings()) waiting -= std::min(waiting, kAssumedStreams);
  });
  const std::size_t most = worker_.options().pooling.http2_connections;
  if (live >= most || (live > 0 && worker_.loop().now() < grows_from_)) return 0;
  return std::min((waiting + kAssumedStreams - 1) / kAssumedStreams, most - live);
}

void OriginPool::adjust_attempts() {
  adjust_attempts(false);
  adjust_attempts(true);
}

// Starts as many attempts as the waiting exchanges need, and gives up what nobody waits for.
void OriginPool::adjust_attempts(bool http1_only) {
  const std::size_t wanted = attempts_wanted(http1_only);
  std::size_t running = 0;
  attempts_.for_each([&](OriginConnect& attempt) {
    if (attempt.is_http1_only() != http1_only) return;
    if (running == wanted) return remove(attempt);
    ++running;
  });
  for (; running < wanted; ++running) {
    attempts_.push_back(*std::make_unique<OriginConnect>(*this, http1_only).release());
  }
}

void OriginPool::connected(OriginConnect& attempt, std::unique_ptr<net::Transport> transport) {
  const bool http1_only = attempt.is_http1_only();
  const bool chose_http2 = transport->alpn() == "h2";
  const bool is_clear = !transport->is_encrypted();
  const bool is_http2 =
      !http1_only && (chose_http2 || (is_clear && endpoint_.protocol == OriginProtocol::http2));
  if (!is_http2 && endpoint_.protocol == OriginProtocol::http2) {
    // Not here and now: after a TLS handshake it is the transport that calls.
    worker_.loop().destroy_later(std::move(transport));
    return connect_failed(attempt, kNotHttp2);
  }
  remove(attempt);
  if (is_http2) {
    add_http2(std::move(transport));
  } else {
    add_http1(std::move(transport), http1_only);
  }
}

void OriginPool::add_http1(std::unique_ptr<net::Transport> transport, bool http1_only) {
  if (!http1_only) speaks_ = Speaks::http1;
  auto owned = std::make_unique<Http1OriginConnection>(*this, std::move(transport));
  Http1OriginConnection& connection = *owned.release();
  busy_.push_back(connection);
  OriginRequest* taker = nullptr;
  waiting_.for_each([&](OriginRequest& request) {
    if (taker == nullptr && request.is_http1_only() == http1_only) taker = &request;
  });
  if (taker == nullptr) return put_idle(connection);
  Exchange& exchange = taker->exchange();
  remove(*taker);
  connection.begin(exchange);
  exchange.on_origin_ready(connection, /*reused=*/false);
  adjust_attempts();
}

void OriginPool::add_http2(std::unique_ptr<net::Transport> transport) {
  speaks_ = Speaks::http2;
  shared_.push_back(
      *std::make_unique<Http2OriginConnection>(*this, std::move(transport)).release());
  serve_waiting();
}

void OriginPool::connect_failed(OriginConnect& attempt, const Error& error) {
  const bool http1_only = attempt.is_http1_only();
  remove(attempt);
  if (http1_only || speaks_ == Speaks::http1) return fail_waiting(error, http1_only, false);
  bool has_open = false;
  shared_.for_each([&](Http2OriginConnection& other) { has_open = has_open || other.is_open(); });
  // The exchanges that wait share the connection's fate, unless there are others to wait for.
  if (!has_open) return fail_waiting(error, false, true);
  grows_from_ = worker_.loop().now() + kGrowthPause;
}

void OriginPool::fail_waiting(const Error& error, bool http1_only, bool all) {
  // A failed exchange may come back at once: it is not to meet this error again.
  IntrusiveList<OriginRequest> failed;
  waiting_.for_each([&](OriginRequest& request) {
    if (request.is_http1_only() != http1_only || (!all && !failed.empty())) return;
    request.unlink();
    failed.push_back(request);
  });
  while (OriginRequest* request = failed.front()) {
    Exchange& exchange = request->exchange();
    remove(*request);
    exchange.on_origin_failed(error);
  }
}

// ---- Bookkeeping

void OriginPool::put_idle(Http1OriginConnection& connection) {
  if (idle_count_ >= max_idle_) return remove(connection);
  connection.unlink();
  idle_.push_front(connection);
  connection.set_idle(true);
  ++idle_count_;
  if (!expiry_.is_armed()) expiry_.arm(worker_.options().timeouts.idle);
}

void OriginPool::remove(Http1OriginConnection& connection) {
  if (connection.is_doomed()) return;
  connection.doom();
  if (connection.is_idle()) --idle_count_;
  connection.unlink();
  worker_.loop().destroy_later(std::unique_ptr<Http1OriginConnection>(&connection));
}

void OriginPool::remove(Http2OriginConnection& connection) {
  if (connection.is_doomed()) return;
  connection.doom();
  connection.unlink();
  worker_.loop().destroy_later(std::unique_ptr<Http2OriginConnection>(&connection));
  adjust_attempts();  // Somebody may have waited for one of its streams.
}

void OriginPool::remove(OriginRequest& request) {
  if (!request.is_linked()) return;
  forget(request);
  adjust_attempts(request.is_http1_only());
}

void OriginPool::forget(OriginRequest& request) {
  request.unlink();
  worker_.loop().destroy_later(std::unique_ptr<OriginRequest>(&request));
}

void OriginPool::remove(OriginConnect& attempt) {
  attempt.unlink();
  worker_.loop().destroy_later(std::unique_ptr<OriginConnect>(&attempt));
}

void OriginPool::expire_idle() {
  const net::TimePoint now = worker_.loop().now();
  const net::Duration limit = worker_.options().timeouts.idle;
  while (Http1OriginConnection* oldest = idle_.back()) {
    const auto left = oldest->idle_since() + limit - now;
    if (left > net::TimePoint::duration::zero()) {
      return expiry_.arm(std::chrono::ceil<net::Duration>(left));
    }
    remove(*oldest);
  }
}

std::optional<std::uint64_t> OriginPool::tls_failure_to_log() {
  return tls_failures_.pass(worker_.loop().now());
}

void OriginPool::drain() {
  max_idle_ = 0;
  while (Http1OriginConnection* connection = idle_.front()) remove(*connection);
  shared_.for_each([](Http2OriginConnection& connection) { connection.drain(); });
}

}  // namespace titanium::proxy
