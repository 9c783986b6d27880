// SPDX-License-Identifier: MIT
#include "arms/arm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "arms/pairs.h"
#include "arms/wire.h"

namespace titanium::probe {
namespace {

// Which pairs are measured under which loads. The tiny GET is measured on all of them.
struct LoadedPairs {
  std::string_view suffix;
  std::vector<std::string_view> pair_keys;
};

[[nodiscard]] std::vector<LoadedPairs> loaded_pairs() {
  const std::vector<std::string_view> heavy = {"h1c-h1c",     "h1tls-h1c", "h2tls-h1c",
                                               "h3-h1c",      "h2c-h1c",   "h2tls-h2c",
                                               "h2tls-h2tls", "h3-h2tls",  "h3-h1tls"};
  return {
      {"-body64k", heavy},
      {"-body256k", heavy},
      {"-post64k", heavy},
      {"-lossy", {heavy.begin() + 1, heavy.end()}},
      {"-slow256k", {"h1tls-h1c", "h2tls-h1c", "h3-h1c", "h2c-h1c", "h2tls-h2tls"}},
      {"-early64k", {"h1tls-h1c", "h2tls-h1c", "h3-h1c", "h2tls-h2tls"}},
      {"-duplex-h2", {"h2tls-h2tls"}},
      {"-duplex-ws", {"h1tls-h1c"}},
      {"-duplex-ws-h1tls", {"h1tls-h1tls"}},
      {"-duplex-ws-h2", {"h2tls-h1c"}},
      {"-grpc", {"h2tls-h2tls"}},
      {"-grpc-h2c", {"h2tls-h2c"}},
      {"-ka-tiny", {"h1tls-h1c"}},
      {"-nc-tiny", {"h1tls-h1c"}},
      {"-ka-256k", {"h1tls-h1c"}},
  };
}

// Controls are no general proxies: each belongs to one pair, and takes plain requests only.
struct ControlRow {
  Product product;
  std::string_view pair_key;
  std::string_view name;
};
constexpr auto kControls = std::to_array<ControlRow>({
    {Product::origin_direct, "h1c-h1c", "origin-direct"},
    {Product::bare_relay, "h1c-h1c", "bare-relay"},
    {Product::bare_reverse, "h1c-h1c", "bare-reverse-http1"},
    {Product::origin_direct, "h1tls-h1c", "origin-direct-tls"},
    {Product::bare_reverse, "h1tls-h1c", "bare-reverse-http1-tls"},
    {Product::origin_direct, "h2c-h1c", "origin-direct-h2c"},
    {Product::origin_direct, "h2tls-h1c", "origin-direct-h2tls"},
});

[[nodiscard]] bool suits_controls(const WorkloadRow& load) {
  return load.slo != SloClass::lossy && load.slo != SloClass::architecture;
}

// A name of old that follows no rule.
struct OddName {
  Product product;
  std::string_view row_key;
  std::string_view name;
  std::string_view mode;
};
constexpr auto kOddNames = std::to_array<OddName>({
    {Product::nginx, "h2tls-h2tls-grpc", "nginx-reverse-grpc", "nginx-grpc-http2"},
});

[[nodiscard]] std::string reason_against(Product product, Wire client, Wire origin,
                                         Workload::Kind kind) {
  if (const auto why = never_possible(product, client, origin, kind); !why.empty()) {
    return fmt::format("not possible: {}", why);
  }
  if (!generator_speaks(client)) {
    return fmt::format("not possible yet: the generator has no {}", wire_name(client));
  }
  if (!origin_speaks(origin)) {
    return fmt::format("not possible yet: the origin has no {}", wire_name(origin));
  }
  if (product == Product::titanium && !(titanium_accepts(client) && titanium_requests(origin))) {
    return "not possible yet: Titanium does not have it";
  }
  return {};
}

[[nodiscard]] Arm base_arm(const PairRow& pair, const WorkloadRow& load, Product product) {
  return {.name = {},
          .mode = {},
          .row_key = pair.key().append(load.suffix),
          .product = product,
          .client = pair.client,
          .origin = pair.origin,
          .load = load,
          .not_possible = reason_against(product, pair.client, pair.origin, load.workload.kind)};
}

[[nodiscard]] Arm control_arm(const PairRow& pair, const WorkloadRow& load,
                              const ControlRow& control) {
  Arm arm = base_arm(pair, load, control.product);
  arm.name = arm.mode = std::string(control.name).append(load.suffix);
  return arm;
}

[[nodiscard]] Arm proxy_arm(const PairRow& pair, const WorkloadRow& load,
                            const ProductRow& product) {
  Arm arm = base_arm(pair, load, product.id);
  const bool ours = product.id == Product::titanium;
  arm.name = fmt::format("{}{}{}", product.prefix, ours ? pair.titanium_name : pair.peer_name,
                         load.suffix);
  arm.mode = ours ? fmt::format("{}{}", pair.titanium_mode, load.suffix) : arm.name;
  for (const OddName& odd : kOddNames) {
    if (odd.product != product.id || odd.row_key != arm.row_key) continue;
    arm.name = odd.name;
    arm.mode = odd.mode;
  }
  return arm;
}

void add_row(std::vector<Arm>& arms, const PairRow& pair, const WorkloadRow& load) {
  const std::string key = pair.key();
  for (const ControlRow& control : kControls) {
    if (control.pair_key != key || !suits_controls(load)) continue;
    arms.push_back(control_arm(pair, load, control));
  }
  for (const ProductRow& product : products()) {
    if (!product.control) arms.push_back(proxy_arm(pair, load, product));
  }
}

}  // namespace

std::vector<Arm> all_arms() {
  std::vector<Arm> arms;
  for (const PairRow& pair : pairs()) add_row(arms, pair, workload_row(""));
  for (const LoadedPairs& loaded : loaded_pairs()) {
    for (const std::string_view key : loaded.pair_keys) {
      add_row(arms, pair_row(key), workload_row(loaded.suffix));
    }
  }
  return arms;
}

}  // namespace titanium::probe
