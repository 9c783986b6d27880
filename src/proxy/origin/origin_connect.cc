// SPDX-License-Identifier: MIT
#include "proxy/origin/origin_connect.h"

#include <utility>

#include "proxy/origin/origin_pool.h"
#include "proxy/worker.h"

namespace titanium::proxy {

OriginConnect::OriginConnect(OriginPool& pool, bool http1_only)
    : pool_(pool), http1_only_(http1_only), deadline_(pool.worker().loop(), *this) {
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

OriginConnect::~OriginConnect() = default;

void OriginConnect::on_connected(Result<std::unique_ptr<net::Transport>> transport) {
  if (!is_linked()) return;
  if (!transport) return fail(transport.error());
  const OriginEndpoint& endpoint = pool_.endpoint();
  if (endpoint.tls == nullptr) return pool_.connected(*this, *std::move(transport));
  Worker& worker = pool_.worker();
  handshaking_ = tls::make_tls_client(
      worker.loop(), worker.chunks(), *std::move(transport),
      http1_only_ && endpoint.tls_http1 != nullptr ? endpoint.tls_http1 : endpoint.tls,
      endpoint.server_name.empty() ? endpoint.host : endpoint.server_name, *this);
}

void OriginConnect::on_handshake(Result<> result) {
  if (!is_linked()) return;
  if (result) return pool_.connected(*this, std::move(handshaking_));
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

void OriginConnect::on_timeout() {
  fail({.code = Code::timed_out,
        .side = Side::origin,
        .retry = Retry::always,
        .what = "no connection within timeouts.connectTimeOutSeconds"});
}

void OriginConnect::fail(const Error& error) {
  if (is_linked()) pool_.connect_failed(*this, error);
}

}  // namespace titanium::proxy
