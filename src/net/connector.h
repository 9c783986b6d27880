// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "net/address.h"
#include "net/dns/resolver.h"
#include "net/event_loop.h"
#include "net/tcp.h"

namespace titanium::net {

class ConnectHandler {
 public:
  // The connected socket, or why there is none: `unavailable` (DNS, refused, unreachable; native is
  // errno of the last attempt) or `timed_out`. Side is origin, retry is always: nothing was sent.
  virtual void on_connected(Result<std::unique_ptr<Transport>> transport) = 0;

 protected:
  ~ConnectHandler() = default;
};

struct ConnectOptions {
  Duration timeout{20'000};  // All attempts together, name look-up included; 0: none.
  SocketOptions socket{};
  bool ipv6_soft_skip = true;  // For 30 s after IPv6 was unreachable it is tried last.
};

// Connects to host:port: resolves, interleaves the families and races the attempts 250 ms apart
// (RFC 8305 §4, §5); losers are closed. One per worker; any number of attempts may run.
class Connector {
 public:
  static constexpr Duration kAttemptDelay{250};

  Connector(EventLoop& loop, Resolver& resolver);
  ~Connector();

  class Attempt;  // Cancels on destruction; then the handler is not called any more.
  struct AttemptDelete {
    void operator()(Attempt* attempt) const noexcept;
  };
  using AttemptPtr = std::unique_ptr<Attempt, AttemptDelete>;

  // The handler is called later, never from within this call. `host` is used until then.
  [[nodiscard]] AttemptPtr connect(std::string_view host, std::uint16_t port,
                                   const ConnectOptions& options, ConnectHandler& handler);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::net
