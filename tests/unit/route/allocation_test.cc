// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state. Counts what a match allocates.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "route/route_table.h"
#include "support/counting_allocator.h"

namespace titanium::route {
namespace {

TEST(RouteTable, DoesNotAllocateOnceTheScratchHasGrown) {
  std::vector<RouteOptions> routes = {
      {.id = "template", .path = "/users/{id}/{rest**}", .path_kind = PathKind::template_},
      {.id = "wildcard", .hosts = {"*.a-rather-long-name.example"}, .path = "/w"},
      {.id = "query", .path = "/q", .query = {{"a name", "a value that is not short"}}},
      {.id = "header", .headers = {{"x-some-header", "some value"}}},
  };
  for (int i = 0; i < 50; ++i) {
    routes.push_back({.id = "host", .hosts = {fmt::format("h{}.example", i)}});
  }
  const auto table = RouteTable::build(std::move(routes));
  ASSERT_TRUE(table.has_value());

  http::RequestHead head;
  head.method_text = "GET";
  head.fields.add("X-Some-Header", "some value");
  const std::pair<std::string_view, std::string_view> requests[] = {
      {"h17.example:8080", "/%61/../users/17/a/b/c/d/e/f/g?x=y"},
      {"sub.A-Rather-Long-Name.example", "/w/and/something/behind/it"},
      {"other.example", "/q?b=1&a+name=a%20value+that%20is+not+short"},
      {"other.example", "/something/that/only/the/header/takes"},
  };
  RouteTable::Scratch scratch;
  for (const auto& [authority, path] : requests) {
    head.authority = authority;
    head.path = path;
    ASSERT_NE(table->match(head, scratch), nullptr);
  }
  const std::size_t before = test::allocations();
  std::size_t found = 0;
  for (const auto& [authority, path] : requests) {
    head.authority = authority;
    head.path = path;
    found += table->match(head, scratch) != nullptr ? 1 : 0;
  }
  const std::size_t after = test::allocations();
  EXPECT_EQ(after - before, 0U);
  EXPECT_EQ(found, 4U);
  EXPECT_GT(before, 50U) << "the counter counts";
}

}  // namespace
}  // namespace titanium::route
