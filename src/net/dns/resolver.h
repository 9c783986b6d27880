// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace titanium::net {

class ResolveHandler {
 public:
  // Addresses in the order of RFC 6724, port set, or `unavailable` (with the reason as text).
  virtual void on_resolved(Result<std::vector<SocketAddress>> addresses) = 0;

 protected:
  ~ResolveHandler() = default;
};

// Names to addresses with c-ares on the loop: /etc/hosts, then DNS as /etc/resolv.conf says.
// Answers are kept for their TTL, at least 1 s and at most 5 min; failures for 1 s; look-ups for
// the same name share one query. One resolver per worker; it outlives its queries' callbacks.
class Resolver {
 public:
  // Names remembered; one more drops the oldest.
  static constexpr std::size_t kCachedNames = 1024;
  // Names being looked up at a time. Clients of a forward proxy choose names: one more fails.
  static constexpr std::size_t kOpenNames = 1024;
  // Addresses of a name that are used.
  static constexpr std::size_t kAddresses = 32;

  struct Options {
    Duration timeout{5'000};
    std::string server;      // "host:port" of a DNS server instead of the system's; empty: system.
    std::string hosts_file;  // Instead of /etc/hosts.
  };
  Resolver(EventLoop& loop, Options options);
  ~Resolver();

  class Query;  // Cancels on destruction.
  struct QueryDelete {
    void operator()(Query* query) const noexcept;
  };
  using QueryPtr = std::unique_ptr<Query, QueryDelete>;

  // IP literals and cached names are answered before this returns (then the result is null), others
  // later, from the loop. The handler may start and cancel queries, but not destroy the resolver.
  [[nodiscard]] QueryPtr resolve(std::string_view host, std::uint16_t port,
                                 ResolveHandler& handler);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::net
