// SPDX-License-Identifier: MIT
#include "cli/router.h"

#include <utility>

namespace titanium::cli {

BalancedGroup::BalancedGroup(const GroupPlan& plan,
                             std::span<const proxy::OriginEndpoint> endpoints, std::uint64_t seed)
    : endpoints_(endpoints), balancer_(plan.algorithm, plan.destinations, seed) {
  tried_.reserve(endpoints.size());
}

const proxy::OriginEndpoint* BalancedGroup::pick(
    std::span<const proxy::OriginEndpoint* const> tried, net::TimePoint now) {
  tried_.clear();
  for (const proxy::OriginEndpoint* endpoint : tried) tried_.push_back(number_of(*endpoint));
  const auto picked = balancer_.pick(now, tried_);
  return picked ? &endpoints_[*picked] : nullptr;
}

void BalancedGroup::started(const proxy::OriginEndpoint& endpoint) {
  balancer_.started(number_of(endpoint));
}

void BalancedGroup::finished(const proxy::OriginEndpoint& endpoint, Outcome outcome,
                             net::TimePoint now) {
  balancer_.finished(number_of(endpoint), outcome, now);
}

ConfiguredRouter::ConfiguredRouter(std::shared_ptr<const RouterPlan> plan,
                                   const std::vector<proxy::OriginEndpoint>& endpoints,
                                   std::uint64_t seed)
    : plan_(std::move(plan)) {
  for (const GroupPlan& group : plan_->groups) {
    groups_.emplace_back(
        group, std::span(endpoints).subspan(group.first_endpoint, group.destinations.size()),
        seed++);
  }
}

proxy::RouteDecision ConfiguredRouter::route(const http::RequestHead& head) {
  if (const route::Route* found = plan_->routes->match(head, scratch_)) {
    return {.group = &groups_[found->cluster], .settings = settings_of(*found)};
  }
  if (plan_->fallback) return {.group = &groups_[*plan_->fallback]};
  return {};
}

// There are few combinations: a search is cheaper than anything that maps routes to them.
const proxy::RouteSettings* ConfiguredRouter::settings_of(
    const route::Route& route) const noexcept {
  if (!route.request_timeout && !route.idle_timeout) return nullptr;
  for (const proxy::RouteSettings& settings : plan_->settings) {
    if (settings.request_timeout == route.request_timeout &&
        settings.idle_timeout == route.idle_timeout) {
      return &settings;
    }
  }
  return nullptr;
}

}  // namespace titanium::cli
