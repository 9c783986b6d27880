// SPDX-License-Identifier: MIT
//
// Names of wires, and which of them exist. A version of HTTP that gets its generator and its origin
// is switched on here; all its arms are in the tables already.
#pragma once

#include <array>
#include <string_view>

#include "workload.h"

namespace titanium::probe {

inline constexpr std::array kAllWires = {Wire::http1, Wire::http1_tls, Wire::h2c, Wire::http2_tls,
                                         Wire::http3};

// As in row keys and in the column http_versions.
[[nodiscard]] constexpr std::string_view wire_name(Wire wire) noexcept {
  switch (wire) {
    case Wire::http1:
      return "h1c";
    case Wire::http1_tls:
      return "h1tls";
    case Wire::h2c:
      return "h2c";
    case Wire::http2_tls:
      return "h2tls";
    case Wire::http3:
      return "h3";
  }
  return "?";
}

// The load generator can send it.
[[nodiscard]] constexpr bool generator_speaks(Wire wire) noexcept { return wire != Wire::http3; }
// The origin of the probe can answer it.
[[nodiscard]] constexpr bool origin_speaks(Wire wire) noexcept { return wire != Wire::http3; }
// Titanium can have it on its client leg and on its origin leg.
[[nodiscard]] constexpr bool titanium_accepts(Wire wire) noexcept { return wire != Wire::http3; }
[[nodiscard]] constexpr bool titanium_requests(Wire wire) noexcept { return wire != Wire::http3; }

}  // namespace titanium::probe
