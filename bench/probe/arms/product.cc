// SPDX-License-Identifier: MIT
#include "arms/product.h"

#include <algorithm>
#include <array>

namespace titanium::probe {
namespace {

constexpr auto kProducts = std::to_array<ProductRow>({
    {Product::origin_direct, "origin-direct", "", true},
    {Product::bare_relay, "bare-relay", "", true},
    {Product::bare_reverse, "bare-reverse-http1", "", true},
    {Product::nginx, "nginx", "nginx-", false},
    {Product::haproxy, "haproxy", "haproxy-", false},
    {Product::envoy, "envoy", "envoy-", false},
    {Product::yarp, "yarp", "yarp-", false},
    {Product::caddy, "caddy", "caddy-", false},
    {Product::nghttpx, "nghttpx", "nghttpx-", false},
    {Product::apache, "apache", "apache-", false},
    {Product::varnish, "varnish", "varnish-", false},
    {Product::h2o, "h2o", "h2o-", false},
    {Product::titanium, "titanium", "twp-", false},
});
static_assert(std::ranges::is_sorted(kProducts, {}, &ProductRow::id));

[[nodiscard]] std::string_view nginx_never(Wire client, Wire origin, Workload::Kind kind) {
  // Only grpc_pass speaks HTTP/2 to an origin.
  if (kind == Workload::Kind::grpc && is_http2(client) && is_http2(origin)) return {};
  if (!is_http1(origin)) return "nginx speaks HTTP/1 to origins";
  if (kind == Workload::Kind::websocket && !is_http1(client)) {
    return "nginx has no extended CONNECT (RFC 8441)";
  }
  return {};
}

[[nodiscard]] std::string_view apache_never(Wire client, Wire origin) {
  if (client == Wire::http3 || origin == Wire::http3) return "Apache has no HTTP/3";
  return {};
}

[[nodiscard]] std::string_view varnish_never(Wire client, Wire origin, Workload::Kind kind) {
  if (is_tls(client) || is_tls(origin)) return "Varnish has no TLS";
  if (origin != Wire::http1) return "Varnish speaks HTTP/1 to origins";
  if (kind == Workload::Kind::websocket && !is_http1(client)) {
    return "Varnish has no extended CONNECT (RFC 8441)";
  }
  return {};
}

}  // namespace

std::span<const ProductRow> products() { return kProducts; }

const ProductRow& product_row(Product id) { return kProducts[static_cast<std::size_t>(id)]; }

std::string_view never_possible(Product id, Wire client, Wire origin, Workload::Kind kind) {
  switch (id) {
    case Product::nginx:
      return nginx_never(client, origin, kind);
    case Product::haproxy:
      return origin == Wire::http3 ? "HAProxy has no QUIC to servers" : std::string_view();
    case Product::nghttpx:
      return origin == Wire::http3 ? "nghttpx has no HTTP/3 to backends" : std::string_view();
    case Product::h2o:
      return origin == Wire::h2c ? "h2o has no h2c to origins" : std::string_view();
    case Product::apache:
      return apache_never(client, origin);
    case Product::varnish:
      return varnish_never(client, origin, kind);
    case Product::caddy:
      return origin == Wire::http3 ? "Caddy's HTTP/3 to upstreams is experimental"
                                   : std::string_view();
    default:
      return {};
  }
}

}  // namespace titanium::probe
