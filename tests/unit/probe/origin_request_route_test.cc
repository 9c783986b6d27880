// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "origin/request_route.h"

namespace titanium::probe {
namespace {

TEST(RequestRoute, KnowsThePathsOfTheOrigin) {
  using http::Method;
  using Kind = RequestRoute::Kind;
  struct Case {
    Method method;
    std::string_view path;
    RequestRoute route;
  };
  const Case cases[] = {
      {Method::get, "/", {Kind::tiny}},
      {Method::get, "/?a=b", {Kind::tiny}},
      {Method::head, "/", {Kind::tiny}},
      {Method::post, "/", {Kind::tiny}},
      {Method::get, "/bytes/0", {Kind::bytes, 0}},
      {Method::get, "/bytes/65536", {Kind::bytes, 65536}},
      {Method::post, "/bytes/7", {Kind::bytes, 7}},
      {Method::get, "/bytes/1073741824", {Kind::bytes, 1073741824}},
      {Method::get, "/bytes/1073741825", {}},
      {Method::get, "/bytes/99999999999999999999999", {}},
      {Method::get, "/bytes/", {}},
      {Method::get, "/bytes/-1", {}},
      {Method::get, "/bytes/1x", {}},
      {Method::post, "/echo", {Kind::echo}},
      {Method::get, "/echo", {}},
      {Method::post, "/early/8192", {Kind::early, 8192}},
      {Method::get, "/early/8192", {}},
      {Method::post, "/early/8192/5", {Kind::early, 8192, 5}},
      {Method::post, "/early/8192/0", {Kind::early, 8192, 0}},
      {Method::post, "/early/8192/", {}},
      {Method::post, "/early/8192/5/", {}},
      {Method::post, "/early//5", {}},
      {Method::post, "/grpc.Echo/Unary", {Kind::grpc}},
      {Method::get, "/grpc.Echo/Unary", {}},
      {Method::post, "/grpc.Echo/Other", {}},
      {Method::get, "/ws", {Kind::websocket}},
      {Method::post, "/ws", {}},
      {Method::head, "/ws", {}},
      {Method::get, "/nothing", {}},
      {Method::put, "/", {}},
  };
  for (const Case& row : cases) EXPECT_EQ(find_route(row.method, row.path), row.route) << row.path;
}

}  // namespace
}  // namespace titanium::probe
