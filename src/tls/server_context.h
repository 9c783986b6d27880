// SPDX-License-Identifier: MIT
//
// The inside of ServerContext, with OpenSSL types; only .cc files of this layer (and its tests)
// include it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tls/context_base.h"
#include "tls/ticket_keys.h"

namespace titanium::tls {

struct ServerContext::Impl : ContextBase {
  explicit Impl(const ServerOptions& options)
      : tickets(options.ticket_rotation, options.kept_ticket_keys) {}

  // The context whose certificate is for this name: exactly, else by a wildcard for its first label
  // (RFC 9525 §6.3), else the first one. `name` is lower case.
  [[nodiscard]] SSL_CTX* find(std::string_view name) const;

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  TicketKeys tickets;
  std::vector<SslContext> contexts;  // One per certificate; the first is the default.
  std::unordered_map<std::string, SSL_CTX*, Hash, std::equal_to<>> by_name;
};

}  // namespace titanium::tls
