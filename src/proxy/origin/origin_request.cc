// SPDX-License-Identifier: MIT
#include "proxy/origin/origin_request.h"

#include "proxy/exchange.h"
#include "proxy/origin/origin_pool.h"
#include "proxy/worker.h"

namespace titanium::proxy {

OriginRequest::OriginRequest(OriginPool& pool, Exchange& exchange, bool http1_only)
    : pool_(pool),
      exchange_(exchange),
      http1_only_(http1_only),
      deadline_(pool.worker().loop(), *this) {
  deadline_.arm(pool.worker().options().timeouts.connect);
}

void OriginRequest::cancel() { pool_.remove(*this); }

void OriginRequest::on_timeout() {
  if (!is_linked()) return;
  Exchange& exchange = exchange_;
  pool_.remove(*this);
  exchange.on_origin_failed({.code = Code::timed_out,
                             .side = Side::origin,
                             .retry = Retry::always,
                             .what = "no connection within timeouts.connectTimeOutSeconds"});
}

}  // namespace titanium::proxy
