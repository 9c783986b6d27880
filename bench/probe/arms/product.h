// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "workload.h"

namespace titanium::probe {

enum class Product : std::uint8_t {
  origin_direct,  // Controls first: they are measured first.
  bare_relay,
  bare_reverse,
  nginx,
  haproxy,
  envoy,
  yarp,
  caddy,
  nghttpx,
  apache,
  varnish,
  h2o,
  titanium,
};

struct ProductRow {
  Product id;
  std::string_view name;    // Column `product`.
  std::string_view prefix;  // Of arm names; controls have names of their own.
  bool control;             // Takes part in no ranking.
};

[[nodiscard]] std::span<const ProductRow> products();
[[nodiscard]] const ProductRow& product_row(Product id);

// Why the product can not have this pair of wires with this kind of load, whatever is installed;
// empty: it can. These are facts about the products. What the probe itself lacks is told by wire.h.
[[nodiscard]] std::string_view never_possible(Product id, Wire client, Wire origin,
                                              Workload::Kind kind = Workload::Kind::request);

}  // namespace titanium::probe
