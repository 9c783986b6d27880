// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/intrusive_list.h"
#include "base/rate_limited.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/routing.h"

namespace titanium::proxy {

class Exchange;
class Http1OriginConnection;
class Http2OriginConnection;
class OriginConnect;
class OriginRequest;
class Worker;

// The connections of one worker to one origin endpoint.
//
// HTTP/1: one exchange at a time. The idle ones are reused last in, first out: under falling load
// the oldest stay unused and expire, and the one used last is the one least likely to have been
// closed by the origin meanwhile.
//
// HTTP/2: exchanges share a connection up to the origin's limit of streams; only then the pool
// grows. Which of the two an origin speaks is configured, or found out by ALPN with the first
// connection, for which all exchanges wait; every later handshake may correct it.
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

  // Gets a stream for the exchange. With one at hand, exchange.on_origin_ready() is called before
  // this returns nullptr. Else the request is returned, and the exchange is told later:
  // on_origin_ready() or on_origin_failed(), after which the request is gone.
  [[nodiscard]] OriginRequest* acquire(Exchange& exchange, Wanted wanted);

  // ---- For connections and requests of this pool.

  // Keeps the connection for later, or closes it if there are too many already.
  void put_idle(Http1OriginConnection& connection);
  // The connection is over: destroys it at the end of the turn.
  void remove(Http1OriginConnection& connection);
  void remove(Http2OriginConnection& connection);
  void remove(OriginRequest& request);
  // An attempt has come to its end, which is also the attempt's.
  void connected(OriginConnect& attempt, std::unique_ptr<net::Transport> transport);
  void connect_failed(OriginConnect& attempt, const Error& error);
  // A connection can take more streams than before.
  void serve_waiting();

  [[nodiscard]] Worker& worker() noexcept { return worker_; }
  [[nodiscard]] const OriginEndpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] std::size_t idle_count() const noexcept { return idle_count_; }
  // False while connections are not to be kept: pooling is off, or the worker drains.
  [[nodiscard]] bool keeps_connections() const noexcept { return max_idle_ > 0; }

  // Whether the log shall hear of another failed handshake: the count of those it did not hear of.
  [[nodiscard]] std::optional<std::uint64_t> tls_failure_to_log();

  // Closes all idle connections, and keeps none from now on.
  void drain();

 private:
  // What the origin is known to speak.
  enum class Speaks : std::uint8_t { unknown, http1, http2 };

  [[nodiscard]] static Speaks expected_of(const OriginEndpoint& endpoint) noexcept;
  [[nodiscard]] bool needs_http1(const Exchange& exchange) const;
  [[nodiscard]] bool refuses(const Exchange& exchange);
  [[nodiscard]] bool open_stream(Exchange& exchange);
  [[nodiscard]] Http1OriginConnection* take_idle(bool must_be_live);
  [[nodiscard]] std::size_t attempts_wanted(bool http1_only);
  void adjust_attempts();
  void adjust_attempts(bool http1_only);
  void remove(OriginConnect& attempt);
  void forget(OriginRequest& request);
  void add_http1(std::unique_ptr<net::Transport> transport, bool http1_only);
  void add_http2(std::unique_ptr<net::Transport> transport);
  void fail_waiting(const Error& error, bool http1_only, bool all);
  void expire_idle();

  Worker& worker_;
  const OriginEndpoint& endpoint_;
  Speaks speaks_;
  std::uint32_t max_idle_ = 0;
  IntrusiveList<Http1OriginConnection> busy_;
  IntrusiveList<Http1OriginConnection> idle_;  // Front: used last.
  IntrusiveList<Http2OriginConnection> shared_;
  IntrusiveList<OriginConnect> attempts_;
  IntrusiveList<OriginRequest> waiting_;  // Front: waits longest.
  RateLimited tls_failures_;
  std::size_t idle_count_ = 0;
  net::TimePoint grows_from_{};  // After a failure, no further shared connection before this.
  net::MemberTimer<OriginPool, &OriginPool::expire_idle> expiry_;
};

}  // namespace titanium::proxy
