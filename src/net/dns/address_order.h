// SPDX-License-Identifier: MIT
//
// Internal to net.
#pragma once

#include <vector>

#include "net/address.h"

namespace titanium::net {

// RFC 8305 §4: the resolver's order (RFC 6724) picks the first family, then the families take
// turns, so that one broken family costs one attempt and not all of them. With `ipv6_last`, IPv6 is
// known not to work and comes after everything else.
[[nodiscard]] std::vector<SocketAddress> interleave_families(
    const std::vector<SocketAddress>& addresses, bool ipv6_last);

}  // namespace titanium::net
