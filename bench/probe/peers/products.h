// SPDX-License-Identifier: MIT
//
// One function per product, each in its own file.
#pragma once

#include "peers/peer.h"

namespace titanium::probe {

[[nodiscard]] Peer titanium_peer();
[[nodiscard]] Peer nginx_peer();
[[nodiscard]] Peer haproxy_peer();
[[nodiscard]] Peer nghttpx_peer();
[[nodiscard]] Peer caddy_peer();
[[nodiscard]] Peer apache_peer();
[[nodiscard]] Peer varnish_peer();
[[nodiscard]] Peer h2o_peer();
[[nodiscard]] Peer envoy_peer();
[[nodiscard]] Peer yarp_peer();

}  // namespace titanium::probe
