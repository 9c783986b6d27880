// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cluster/balancer.h"
#include "proxy/options.h"
#include "proxy/routing.h"
#include "route/route_table.h"

namespace titanium::cli {

// How a group of endpoints is chosen from; its endpoints stand one after the other in
// ServerOptions::endpoints.
struct GroupPlan {
  cluster::Algorithm algorithm = cluster::Algorithm::round_robin;
  std::vector<cluster::DestinationOptions> destinations;
  std::size_t first_endpoint = 0;
};

// What one listener does with requests. Immutable, shared by all workers.
struct RouterPlan {
  std::shared_ptr<const route::RouteTable> routes;
  std::vector<GroupPlan> groups;               // By Route::cluster.
  std::optional<std::size_t> fallback;         // The group of forwardHost.
  std::vector<proxy::RouteSettings> settings;  // All combinations that routes ask for.
};

// A cluster as the exchange engine sees it: translates between endpoints and the balancer's
// numbers.
class BalancedGroup final : public proxy::OriginGroup {
 public:
  // `endpoints` are those of the plan, in its order.
  BalancedGroup(const GroupPlan& plan, std::span<const proxy::OriginEndpoint> endpoints,
                std::uint64_t seed);

  [[nodiscard]] const proxy::OriginEndpoint* pick(
      std::span<const proxy::OriginEndpoint* const> tried, net::TimePoint now) override;
  void started(const proxy::OriginEndpoint& endpoint) override;
  void finished(const proxy::OriginEndpoint& endpoint, Outcome outcome,
                net::TimePoint now) override;

 private:
  [[nodiscard]] std::size_t number_of(const proxy::OriginEndpoint& endpoint) const noexcept {
    return static_cast<std::size_t>(&endpoint - endpoints_.data());
  }

  std::span<const proxy::OriginEndpoint> endpoints_;
  cluster::Balancer balancer_;
  std::vector<std::size_t> tried_;  // Reused, so that pick() does not allocate.
};

// The route table and the clusters of one listener, for one worker.
class ConfiguredRouter final : public proxy::Router {
 public:
  ConfiguredRouter(std::shared_ptr<const RouterPlan> plan,
                   const std::vector<proxy::OriginEndpoint>& endpoints, std::uint64_t seed);

  [[nodiscard]] proxy::RouteDecision route(const http::RequestHead& head) override;

 private:
  [[nodiscard]] const proxy::RouteSettings* settings_of(const route::Route& route) const noexcept;

  std::shared_ptr<const RouterPlan> plan_;
  std::deque<BalancedGroup> groups_;  // Their addresses are handed out.
  route::RouteTable::Scratch scratch_;
};

}  // namespace titanium::cli
