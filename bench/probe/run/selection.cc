// SPDX-License-Identifier: MIT
#include "run/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arms/modes.h"
#include "peers/peer.h"

namespace titanium::probe {
namespace {

constexpr std::uint32_t kTinyBytes = 4096;

[[nodiscard]] std::expected<void, std::string> check_named_programs(const RampOptions& options) {
  for (const auto& [product, path] : options.program_paths) {
    const Peer* peer = find_peer(product);
    if (!locate(*peer, path).empty()) continue;
    return std::unexpected(fmt::format("{}: '{}' is not a program", peer->path_option, path));
  }
  return {};
}

[[nodiscard]] std::string program_of(Product product, const RampOptions& options) {
  const auto given = options.program_paths.find(product);
  return locate(*find_peer(product),
                given == options.program_paths.end() ? std::string() : given->second);
}

// "not possible yet: the origin has no h2c" in its two parts.
[[nodiscard]] AbsentArm absent_because(Arm arm, std::string_view reason) {
  const std::size_t colon = reason.find(": ");
  return {.arm = std::move(arm),
          .status = std::string(reason.substr(0, colon)),
          .reason = std::string(colon == reason.npos ? "" : reason.substr(colon + 2))};
}

// Which limits fit a load that no suffix describes.
[[nodiscard]] SloClass class_of(const WorkloadRow& load) {
  const Workload& workload = load.workload;
  if (workload.kind == Workload::Kind::websocket || workload.read_chunk_bytes > 0 ||
      workload.early_response_after > 0) {
    return SloClass::architecture;
  }
  if (load.has_shim()) return SloClass::lossy;
  if (workload.request_bytes > kTinyBytes || workload.response_bytes > kTinyBytes) {
    return SloClass::body;
  }
  return workload.keep_alive ? SloClass::tiny : SloClass::handshake;
}

}  // namespace

std::expected<std::vector<Arm>, std::string> chosen_arms(const RampOptions& options) {
  auto arms = options.mode.empty() ? all_arms() : arms_of_mode(options.mode);
  if (!arms) return arms;
  return keep_shard(keep_containing(std::move(*arms), options.arm_contains), options.arm_shard);
}

std::expected<Selection, std::string> select_arms(const RampOptions& options) {
  if (auto checked = check_named_programs(options); !checked) {
    return std::unexpected(checked.error());
  }
  auto arms = chosen_arms(options);
  if (!arms) return std::unexpected(arms.error());
  Selection selection;
  std::map<Product, std::string> programs;
  for (Arm& arm : *arms) {
    if (!arm.not_possible.empty()) {
      const std::string reason = arm.not_possible;
      selection.absent.push_back(absent_because(std::move(arm), reason));
      continue;
    }
    if (!product_row(arm.product).control) {
      if (!programs.contains(arm.product)) {
        programs[arm.product] = program_of(arm.product, options);
      }
      if (programs[arm.product].empty()) {
        selection.absent.push_back(absent_because(std::move(arm), "not installed"));
        continue;
      }
    }
    apply(options.load, arm);
    selection.arms.push_back(std::move(arm));
  }
  for (const Arm& arm : selection.arms) {
    if (product_row(arm.product).control || selection.products.contains(arm.product)) continue;
    const std::string& program = programs[arm.product];
    PeerVersion version = ask_version(*find_peer(arm.product), program);
    selection.products[arm.product] = {.name = std::string(product_row(arm.product).name),
                                       .program = program,
                                       .version = std::move(version.version),
                                       .flags = std::move(version.details)};
  }
  return selection;
}

void apply(const LoadOverrides& overrides, Arm& arm) {
  if (!overrides.any()) return;
  Workload& load = arm.load.workload;
  const auto replace = [](auto& value, const auto& given) {
    if (given) value = *given;
  };
  replace(load.request_bytes, overrides.request_bytes);
  replace(load.response_bytes, overrides.response_bytes);
  replace(load.early_response_after, overrides.early_response_after);
  replace(load.read_chunk_bytes, overrides.read_chunk_bytes);
  replace(load.read_pause_ms, overrides.read_pause_ms);
  replace(arm.load.delay_ms, overrides.delay_ms);
  replace(arm.load.loss_percent, overrides.loss_percent);
  if (overrides.no_keepalive) load.keep_alive = false;
  if (overrides.websocket) load.kind = Workload::Kind::websocket;
  if (overrides.grpc) load.kind = Workload::Kind::grpc;
  arm.load.slo = std::max(arm.load.slo, class_of(arm.load));
  arm.row_key += "-custom";
}

}  // namespace titanium::probe
