// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/intrusive_list.h"
#include "base/rate_limited.h"
#include "net/bound.h"
#include "proxy/routing.h"

namespace titanium::proxy {

class Exchange;
class Http1OriginConnection;
class OriginRequest;
class Worker;

// The connections of one worker to one origin endpoint.
//
// The idle ones are reused last in, first out: under falling load the oldest stay unused and
// expire, and the one used last is the one least likely to have been closed by the origin
// meanwhile.
class OriginPool {
 public:
  enum class Wanted : std::uint8_t {
    any,    // An idle connection if there is one.
    fresh,  // A new one: an idle one has just failed.
  };

  OriginPool(Worker& worker, const OriginEndpoint& endpoint);
  ~OriginPool();
  OriginPool(const OriginPool&) = delete;
  OriginPool& operator=(const OriginPool&) = delete;

  // Gets a stream for the exchange. With an idle connection at hand, exchange.on_origin_ready() is
  // called before this returns nullptr. Else the request is returned, and the exchange is told
  // later: on_origin_ready() or on_origin_failed(), after which the request is gone.
  [[nodiscard]] OriginRequest* acquire(Exchange& exchange, Wanted wanted);

  // ---- For connections and requests of this pool.

  void add(std::unique_ptr<Http1OriginConnection> connection);
  // Keeps the connection for later, or closes it if there are too many already.
  void put_idle(Http1OriginConnection& connection);
  // The connection is over: destroys it at the end of the turn.
  void remove(Http1OriginConnection& connection);
  void remove(OriginRequest& request);

  [[nodiscard]] Worker& worker() noexcept { return worker_; }
  [[nodiscard]] const OriginEndpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] std::size_t idle_count() const noexcept { return idle_count_; }

  // Whether the log shall hear of another failed handshake: the count of those it did not hear of.
  [[nodiscard]] std::optional<std::uint64_t> tls_failure_to_log();

  // Closes all idle connections, and keeps none from now on.
  void drain();

 private:
  void expire_idle();
  [[nodiscard]] Http1OriginConnection* take_idle(bool must_be_live);

  Worker& worker_;
  const OriginEndpoint& endpoint_;
  std::uint32_t max_idle_;
  IntrusiveList<Http1OriginConnection> busy_;
  IntrusiveList<Http1OriginConnection> idle_;  // Front: used last.
  IntrusiveList<OriginRequest> requests_;
  RateLimited tls_failures_;
  std::size_t idle_count_ = 0;
  net::MemberTimer<OriginPool, &OriginPool::expire_idle> expiry_;
};

}  // namespace titanium::proxy
