// SPDX-License-Identifier: MIT
#pragma once

#include "base/intrusive_list.h"
#include "net/bound.h"

namespace titanium::proxy {

class Exchange;
class OriginPool;

// An exchange that waits for a connection, or for a free stream on one. Owned by its pool.
class OriginRequest final : public ListLink<OriginRequest> {
 public:
  // `http1_only`: it asks for an upgrade that an HTTP/2 connection can not carry.
  OriginRequest(OriginPool& pool, Exchange& exchange, bool http1_only);

  // The exchange does not want the connection any more.
  void cancel();

  [[nodiscard]] Exchange& exchange() noexcept { return exchange_; }
  [[nodiscard]] bool is_http1_only() const noexcept { return http1_only_; }
  void require_http1() noexcept { http1_only_ = true; }

 private:
  void on_timeout();

  OriginPool& pool_;
  Exchange& exchange_;
  bool http1_only_;
  net::MemberTimer<OriginRequest, &OriginRequest::on_timeout> deadline_;
};

}  // namespace titanium::proxy
