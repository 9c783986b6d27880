// SPDX-License-Identifier: MIT
#include "proxy/origin_request.h"

#include <utility>

#include "proxy/exchange.h"
#include "proxy/http1_origin_connection.h"
#include "proxy/origin_pool.h"
#include "proxy/worker.h"

namespace titanium::proxy {

OriginRequest::OriginRequest(OriginPool& pool, Exchange& exchange)
    : pool_(pool), exchange_(&exchange), deadline_(pool.worker().loop(), *this) {
  Worker& worker = pool.worker();
  const auto& options = worker.options();
  const OriginEndpoint& endpoint = pool.endpoint();
  deadline_.arm(options.timeouts.connect);
  // The deadline above runs on through the TLS handshake, so the connector needs none of its own.
  attempt_ = worker.connector().connect(endpoint.host, endpoint.port,
                                        {.timeout = net::Duration::zero(),
                                         .socket = {.no_delay = options.pooling.no_delay,
                                                    .keep_alive = options.pooling.tcp_keep_alive},
                                         .ipv6_soft_skip = options.pooling.ipv6_soft_skip},
                                        *this);
}

OriginRequest::~OriginRequest() = default;

void OriginRequest::cancel() {
  exchange_ = nullptr;
  attempt_.reset();
  pool_.remove(*this);
}

void OriginRequest::on_connected(Result<std::unique_ptr<net::Transport>> transport) {
  if (exchange_ == nullptr) return;
  if (!transport) return fail(transport.error());
  const OriginEndpoint& endpoint = pool_.endpoint();
  if (endpoint.tls == nullptr) return succeed(*std::move(transport));
  Worker& worker = pool_.worker();
  handshaking_ = tls::make_tls_client(
      worker.loop(), worker.chunks(), *std::move(transport), endpoint.tls,
      endpoint.server_name.empty() ? endpoint.host : endpoint.server_name, *this);
}

void OriginRequest::on_handshake(Result<> result) {
  if (exchange_ == nullptr) return;
  if (result) return succeed(std::move(handshaking_));
  Error error = result.error();
  if (const auto suppressed = pool_.tls_failure_to_log()) {
    pool_.worker().logger().log(
        LogLevel::warning, "TLS to origin {}:{} failed: {} ({}); {} more since the last such line",
        pool_.endpoint().host, pool_.endpoint().port, error.what, handshaking_->detail(),
        *suppressed);
  }
  error.side = Side::origin;
  if (error.code != Code::certificate) error.code = Code::tls;
  error.retry = Retry::always;  // No request byte was sent.
  fail(error);
}

void OriginRequest::on_timeout() {
  fail({.code = Code::timed_out,
        .side = Side::origin,
        .retry = Retry::always,
        .what = "no connection within timeouts.connectTimeOutSeconds"});
}

void OriginRequest::succeed(std::unique_ptr<net::Transport> transport) {
  auto connection = std::make_unique<Http1OriginConnection>(pool_, std::move(transport));
  Http1OriginConnection& stream = *connection;
  Exchange& exchange = *std::exchange(exchange_, nullptr);
  pool_.add(std::move(connection));
  pool_.remove(*this);
  stream.begin(exchange);
  exchange.on_origin_ready(stream, /*reused=*/false);
}

void OriginRequest::fail(const Error& error) {
  Exchange* exchange = std::exchange(exchange_, nullptr);
  pool_.remove(*this);
  if (exchange != nullptr) exchange->on_origin_failed(error);
}

}  // namespace titanium::proxy
