// SPDX-License-Identifier: MIT
#include "cli/router.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace titanium::cli {
namespace {

constexpr net::TimePoint kNow{};

// Two clusters, of two endpoints and one; then the origin of forwardHost.
class ConfiguredRouterTest : public testing::Test {
 protected:
  ConfiguredRouterTest() {
    for (const char* host : {"a1", "a2", "b", "fallback"}) {
      proxy::OriginEndpoint endpoint;
      endpoint.index = endpoints_.size();
      endpoint.host = host;
      endpoints_.push_back(endpoint);
    }
  }

  static GroupPlan group(std::size_t first, std::size_t count) {
    GroupPlan plan;
    plan.first_endpoint = first;
    plan.destinations.resize(count);
    return plan;
  }

  [[nodiscard]] ConfiguredRouter make(bool with_fallback) const {
    route::RouteOptions a;
    a.id = "a";
    a.cluster = 0;
    a.path = "/a";
    a.request_timeout = std::chrono::seconds(3);
    route::RouteOptions b;
    b.id = "b";
    b.cluster = 1;
    b.path = "/b";
    auto plan = std::make_shared<RouterPlan>();
    plan->routes = std::make_shared<const route::RouteTable>(*route::RouteTable::build({a, b}));
    plan->groups = {group(0, 2), group(2, 1)};
    plan->settings = {{.request_timeout = std::chrono::seconds(3), .idle_timeout = {}}};
    if (with_fallback) {
      plan->fallback = plan->groups.size();
      plan->groups.push_back(group(3, 1));
    }
    return {plan, endpoints_, 1};
  }

  static http::RequestHead request(std::string_view path) {
    http::RequestHead head;
    head.method_text = "GET";
    head.authority = "localhost";
    head.path = path;
    return head;
  }

  std::vector<proxy::OriginEndpoint> endpoints_;
};

TEST_F(ConfiguredRouterTest, SendsEachPathToTheEndpointsOfItsCluster) {
  ConfiguredRouter router = make(false);
  const auto a = router.route(request("/a/x"));
  ASSERT_NE(a.group, nullptr);
  const proxy::OriginEndpoint* first = a.group->pick({}, kNow);
  const proxy::OriginEndpoint* second = a.group->pick({}, kNow);
  EXPECT_EQ(first->host + second->host, "a1a2");
  const auto b = router.route(request("/b"));
  ASSERT_NE(b.group, nullptr);
  EXPECT_EQ(b.group->pick({}, kNow)->host, "b");
}

TEST_F(ConfiguredRouterTest, NeverPicksWhatWasTried) {
  ConfiguredRouter router = make(false);
  proxy::OriginGroup* group = router.route(request("/a")).group;
  const proxy::OriginEndpoint* first = group->pick({}, kNow);
  std::vector<const proxy::OriginEndpoint*> tried{first};
  const proxy::OriginEndpoint* second = group->pick(tried, kNow);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  tried.push_back(second);
  EXPECT_EQ(group->pick(tried, kNow), nullptr);
}

TEST_F(ConfiguredRouterTest, HandsOutTheSettingsOfARoute) {
  ConfiguredRouter router = make(false);
  const auto a = router.route(request("/a"));
  ASSERT_NE(a.settings, nullptr);
  EXPECT_EQ(a.settings->request_timeout, std::chrono::seconds(3));
  EXPECT_EQ(router.route(request("/b")).settings, nullptr);
}

TEST_F(ConfiguredRouterTest, TakesTheForwardHostForWhatNoRouteTakes) {
  ConfiguredRouter without = make(false);
  EXPECT_EQ(without.route(request("/c")).group, nullptr);
  ConfiguredRouter with = make(true);
  proxy::OriginGroup* group = with.route(request("/c")).group;
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->pick({}, kNow)->host, "fallback");
}

TEST_F(ConfiguredRouterTest, AvoidsAnEndpointThatKeepsFailing) {
  ConfiguredRouter router = make(false);
  proxy::OriginGroup* group = router.route(request("/a")).group;
  for (int i = 0; i < 3; ++i) {
    group->started(endpoints_[0]);
    group->finished(endpoints_[0], Outcome::failed, kNow);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(group->pick({}, kNow)->host, "a2");
}

}  // namespace
}  // namespace titanium::cli
