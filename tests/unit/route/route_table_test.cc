// SPDX-License-Identifier: MIT
#include "route/route_table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace titanium::route {
namespace {

http::RequestHead request(std::string_view path, std::string_view authority = "example.com",
                          std::string_view method = "GET") {
  http::RequestHead head;
  head.method_text = method;
  head.scheme = "http";
  head.authority = authority;
  head.path = path;
  return head;
}

RouteTable build(std::vector<RouteOptions> routes) {
  auto table = RouteTable::build(std::move(routes));
  EXPECT_TRUE(table.has_value()) << table.error();
  return table ? *std::move(table) : RouteTable();
}

// The id of the route, or "-".
std::string find(const RouteTable& table, const http::RequestHead& head) {
  RouteTable::Scratch scratch;
  const Route* route = table.match(head, scratch);
  return route == nullptr ? "-" : route->id;
}

bool matches(RouteOptions options, const http::RequestHead& head) {
  return find(build({std::move(options)}), head) != "-";
}

TEST(RouteTable, WithoutRoutesMatchesNothing) {
  EXPECT_EQ(find(RouteTable(), request("/")), "-");
  EXPECT_EQ(find(build({}), request("/")), "-");
}

struct PathCase {
  PathKind kind;
  std::string_view route;
  std::string_view target;
  bool matches;
};

TEST(RouteTable, ComparesPathsNormalisedAndWithoutQuery) {
  const PathCase cases[] = {
      {PathKind::exact, "/a", "/a", true},
      {PathKind::exact, "/a", "/a?x=y", true},
      {PathKind::exact, "/a", "/a/", false},
      {PathKind::exact, "/a", "/ab", false},
      {PathKind::exact, "/a", "/%61", true},
      {PathKind::exact, "/%61", "/a", true},
      {PathKind::exact, "/a", "/b/../a", true},
      {PathKind::exact, "/a", "/A", false},
      {PathKind::exact, "/", "/", true},
      {PathKind::exact, "/", "/a", false},
      {PathKind::prefix, "/a", "/ab", true},  // Of characters, not of segments.
      {PathKind::prefix, "/a/", "/a", false},
      {PathKind::prefix, "/a/", "/a/b", true},
      {PathKind::prefix, "/a/", "/a/../b", false},
      {PathKind::prefix, "/", "/anything", true},
      {PathKind::prefix, "/", "*", true},
      {PathKind::prefix, "/a", "*", false},
      {PathKind::prefix, "", "*", true},
      {PathKind::template_, "/a/{b}", "/a/x?c", true},
      {PathKind::template_, "/a/{b}", "/a/x/../y", true},
      {PathKind::template_, "/a/{b}", "/a/x/y", false},
  };
  for (const PathCase& c : cases) {
    EXPECT_EQ(
        matches({.id = "r", .path = std::string(c.route), .path_kind = c.kind}, request(c.target)),
        c.matches)
        << c.route << " " << c.target;
  }
}

TEST(RouteTable, ComparesHostsWithoutCaseAndPort) {
  struct Case {
    std::string_view host;
    std::string_view authority;
    bool matches;
  };
  const Case cases[] = {
      {"example.com", "example.com", true},
      {"example.com", "EXAMPLE.com:8080", true},
      {"Example.COM", "example.com", true},
      {"example.com", "example.com.", true},
      {"example.com", "www.example.com", false},
      {"example.com", "example.co", false},
      {"example.com", "", false},
      {"example.com", "bad host", false},
      {"*.example.com", "a.example.com", true},
      {"*.example.com", "a.b.EXAMPLE.com:1", true},
      {"*.example.com", "example.com", false},
      {"*.example.com", "badexample.com", false},
      {"::1", "[::1]:8080", true},
      {"[::1]", "[::1]", true},
      {"127.0.0.1", "127.0.0.1:80", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(matches({.id = "r", .hosts = {std::string(c.host)}}, request("/", c.authority)),
              c.matches)
        << c.host << " " << c.authority;
  }
  EXPECT_TRUE(matches({.id = "r"}, request("/", "")));
  EXPECT_TRUE(matches({.id = "r", .hosts = {"a", "b"}}, request("/", "b")));
}

TEST(RouteTable, ComparesMethodsWithCase) {
  const RouteOptions route{.id = "r", .methods = {"GET", "PURGE"}};
  EXPECT_TRUE(matches(route, request("/", "a", "GET")));
  EXPECT_TRUE(matches(route, request("/", "a", "PURGE")));
  EXPECT_FALSE(matches(route, request("/", "a", "POST")));
  EXPECT_FALSE(matches(route, request("/", "a", "get")));
}

TEST(RouteTable, ComparesFieldsByNameWithoutCaseAndValueWithCase) {
  http::RequestHead head = request("/");
  head.fields.add("X-Env", "test");
  head.fields.add("x-env", "prod");
  EXPECT_TRUE(matches({.id = "r", .headers = {{"X-ENV", "test"}}}, head));
  EXPECT_TRUE(matches({.id = "r", .headers = {{"x-env", "prod"}}}, head));
  EXPECT_TRUE(matches({.id = "r", .headers = {{"x-env", "prod"}, {"x-env", "test"}}}, head));
  EXPECT_FALSE(matches({.id = "r", .headers = {{"x-env", "Test"}}}, head));
  EXPECT_FALSE(matches({.id = "r", .headers = {{"x-env", "tes"}}}, head));
  EXPECT_FALSE(matches({.id = "r", .headers = {{"x-env", "test"}, {"x-other", "1"}}}, head));
  head.fields.drop("x-env");
  EXPECT_FALSE(matches({.id = "r", .headers = {{"x-env", "test"}}}, head));
}

TEST(RouteTable, ComparesQueryValues) {
  const RouteOptions route{.id = "r", .query = {{"v", "2"}, {"flag", ""}}};
  EXPECT_TRUE(matches(route, request("/a?flag&v=2")));
  EXPECT_TRUE(matches(route, request("/?v=%32&flag=")));
  EXPECT_FALSE(matches(route, request("/?v=2")));
  EXPECT_FALSE(matches(route, request("/")));
}

// Routes in the order in which they must win; the table is built from every rotation of the list.
TEST(RouteTable, PrefersTheMoreSpecificRoute) {
  const std::vector<RouteOptions> ranked = {
      {.id = "order", .order = -1, .path = "/users/5/posts", .headers = {{"x", "1"}}},
      {.id = "exact, full host",
       .hosts = {"a.b.example"},
       .path = "/users/5/posts",
       .path_kind = PathKind::exact},
      {.id = "exact, longer wildcard",
       .hosts = {"*.b.example"},
       .path = "/users/5/posts",
       .path_kind = PathKind::exact},
      {.id = "exact, wildcard",
       .hosts = {"*.example"},
       .path = "/users/5/posts",
       .path_kind = PathKind::exact},
      {.id = "exact", .path = "/users/5/posts", .path_kind = PathKind::exact},
      {.id = "template, more text", .path = "/users/{id}/posts", .path_kind = PathKind::template_},
      {.id = "template, longer", .path = "/users/{id}/{what}", .path_kind = PathKind::template_},
      {.id = "template, rest, with method",
       .path = "/users/{rest**}",
       .path_kind = PathKind::template_,
       .methods = {"GET"}},
      {.id = "template, rest", .path = "/users/{rest**}", .path_kind = PathKind::template_},
      {.id = "long prefix", .path = "/users/5"},
      {.id = "prefix, full host", .hosts = {"a.b.example"}, .path = "/users/"},
      {.id = "prefix, two conditions",
       .path = "/users/",
       .methods = {"GET"},
       .query = {{"q", "1"}}},
      {.id = "prefix, one condition", .path = "/users/", .query = {{"q", "1"}}},
      {.id = "prefix", .path = "/users/"},
      {.id = "root", .path = "/"},
      {.id = "host only", .hosts = {"a.b.example"}},
      {.id = "wildcard only", .hosts = {"*.example"}},
      {.id = "method only", .methods = {"GET"}},
      {.id = "all"},
  };
  http::RequestHead head = request("/users/5/posts?q=1", "a.b.example");
  head.fields.add("X", "1");
  for (std::size_t first = 0; first < ranked.size(); ++first) {
    std::vector<RouteOptions> left(ranked.begin() + static_cast<std::ptrdiff_t>(first),
                                   ranked.end());
    const std::string best = left.front().id;
    for (std::size_t turn = 0; turn < left.size(); ++turn) {
      std::ranges::rotate(left, left.begin() + 1);
      ASSERT_EQ(find(build(left), head), best);
    }
  }
}

TEST(RouteTable, TakesTheFirstOfEquals) {
  EXPECT_EQ(find(build({{.id = "a", .path = "/"}, {.id = "b", .path = "/"}}), request("/")), "a");
}

TEST(RouteTable, GoesOnWhenABetterRouteFailsOnAnotherCondition) {
  const RouteTable table = build({
      {.id = "post", .path = "/a", .path_kind = PathKind::exact, .methods = {"POST"}},
      {.id = "any", .path = "/"},
  });
  EXPECT_EQ(find(table, request("/a", "x", "POST")), "post");
  EXPECT_EQ(find(table, request("/a", "x", "GET")), "any");
}

TEST(RouteTable, GivesTheOptionsOfTheRoute) {
  const RouteTable table = build(
      {{.id = "a", .cluster = 7, .path = "/", .request_timeout = std::chrono::milliseconds(5)}});
  RouteTable::Scratch scratch;
  const Route* route = table.match(request("/"), scratch);
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->cluster, 7U);
  EXPECT_EQ(route->request_timeout, std::chrono::milliseconds(5));
  EXPECT_EQ(table.size(), 1U);
}

TEST(RouteTable, NamesTheRouteThatIsWrong) {
  EXPECT_EQ(RouteTable::build({{.id = "x", .path = "a"}}).error(),
            "route 'x': the path does not start with '/'");
  EXPECT_EQ(
      RouteTable::build({{.id = "x", .path = "/{", .path_kind = PathKind::template_}}).error(),
      "route 'x': '{' is neither text nor one hole, {name} or {name**}");
  for (const std::string host : {"", "*", "*.", "a.*"}) {
    EXPECT_EQ(RouteTable::build({{.id = "x", .hosts = {host}}}).error(),
              "route 'x': '" + host + "' is not a host");
  }
}

// What a table must find, found the slow way: the best of all routes that match alone, each two of
// them compared by a table of their own.
std::string find_slowly(const std::vector<RouteOptions>& routes,
                        const std::vector<RouteTable>& singles, const http::RequestHead& head) {
  const RouteOptions* best = nullptr;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (find(singles[i], head) == "-") continue;
    if (best == nullptr || find(build({*best, routes[i]}), head) == routes[i].id) best = &routes[i];
  }
  return best == nullptr ? "-" : best->id;
}

TEST(RouteTable, FindsTheRightOneOfAThousand) {
  std::mt19937 random(7);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random()) % limit; };
  std::vector<RouteOptions> routes;
  for (unsigned i = 0; i < 1'000; ++i) {
    RouteOptions route{.id = std::to_string(i), .order = static_cast<int>(below(3))};
    if (below(4) != 0) {
      route.hosts.push_back(fmt::format("{}h{}.example", below(3) == 0 ? "*." : "", below(40)));
    }
    const unsigned kind = below(4);
    if (kind == 0) {
      route.path = fmt::format("/p{}/{{id}}", below(20));
      route.path_kind = PathKind::template_;
    } else if (kind != 3) {
      route.path = fmt::format("/p{}/q{}", below(20), below(5));
      route.path_kind = kind == 1 ? PathKind::exact : PathKind::prefix;
    }
    if (below(4) == 0) route.methods = {"POST"};
    routes.push_back(route);
  }
  const RouteTable table = build(routes);
  ASSERT_EQ(table.size(), 1'000U);
  std::vector<RouteTable> singles;
  for (const RouteOptions& route : routes) singles.push_back(build({route}));
  RouteTable::Scratch scratch;
  for (int i = 0; i < 60; ++i) {
    const std::string path = fmt::format("/p{}/q{}", below(20), below(7));
    const std::string host = fmt::format("{}h{}.example", below(3) == 0 ? "sub." : "", below(45));
    const auto head = request(path, host, below(2) == 0 ? "GET" : "POST");
    const Route* route = table.match(head, scratch);
    ASSERT_EQ(route == nullptr ? "-" : route->id, find_slowly(routes, singles, head))
        << host << path;
  }
}

}  // namespace
}  // namespace titanium::route
