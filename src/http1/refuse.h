// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace titanium::http1 {

// What to answer when the peer is the client. An origin's faults are always a 502.
[[nodiscard]] constexpr std::uint16_t status_for(Side peer, std::uint16_t client_status) noexcept {
  return peer == Side::client ? client_status : std::uint16_t{502};
}

[[nodiscard]] constexpr std::unexpected<Error> refuse(std::string_view what, Side peer,
                                                      std::uint16_t client_status = 400) {
  return std::unexpected(Error{.code = Code::protocol,
                               .side = peer,
                               .status = status_for(peer, client_status),
                               .what = what});
}

[[nodiscard]] constexpr std::unexpected<Error> over_limit(std::string_view what, Side peer,
                                                          std::uint16_t client_status) {
  return limit_error(what, peer, status_for(peer, client_status));
}

[[nodiscard]] constexpr std::unexpected<Error> not_offered(std::string_view what, Side peer,
                                                           std::uint16_t client_status) {
  return std::unexpected(Error{.code = Code::unsupported,
                               .side = peer,
                               .status = status_for(peer, client_status),
                               .what = what});
}

}  // namespace titanium::http1
