// SPDX-License-Identifier: MIT
#include "proxy/origin_pool.h"

#include "http/message.h"
#include "proxy/exchange.h"
#include "proxy/http1_origin_connection.h"
#include "proxy/origin_request.h"
#include "proxy/worker.h"

namespace titanium::proxy {

OriginPool::OriginPool(Worker& worker, const OriginEndpoint& endpoint)
    : worker_(worker), endpoint_(endpoint), max_idle_(0), expiry_(worker.loop(), *this) {
  const Pooling& pooling = worker.options().pooling;
  if (pooling.enabled) max_idle_ = endpoint.idle_connections.value_or(pooling.idle_connections);
}

OriginPool::~OriginPool() {
  while (OriginRequest* request = requests_.pop_front()) delete request;
  while (Http1OriginConnection* connection = busy_.pop_front()) delete connection;
  while (Http1OriginConnection* connection = idle_.pop_front()) delete connection;
}

OriginRequest* OriginPool::acquire(Exchange& exchange, Wanted wanted) {
  if (wanted == Wanted::any) {
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
  auto request = std::make_unique<OriginRequest>(*this, exchange);
  requests_.push_back(*request);
  return request.release();
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

void OriginPool::add(std::unique_ptr<Http1OriginConnection> connection) {
  busy_.push_back(*connection.release());
}

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

void OriginPool::remove(OriginRequest& request) {
  if (!request.is_linked()) return;
  request.unlink();
  worker_.loop().destroy_later(std::unique_ptr<OriginRequest>(&request));
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
}

}  // namespace titanium::proxy
