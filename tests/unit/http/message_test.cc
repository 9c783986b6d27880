// SPDX-License-Identifier: MIT
#include "http/message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace titanium::http {
namespace {

TEST(Method, IsCaseSensitive) {
  struct Case {
    std::string_view text;
    Method method;
    bool idempotent;
  };
  const Case cases[] = {
      {"GET", Method::get, true},         {"HEAD", Method::head, true},
      {"POST", Method::post, false},      {"PUT", Method::put, true},
      {"DELETE", Method::delete_, true},  {"CONNECT", Method::connect, false},
      {"OPTIONS", Method::options, true}, {"TRACE", Method::trace, true},
      {"PATCH", Method::patch, false},    {"get", Method::other, false},
      {"", Method::other, false},         {"GETS", Method::other, false},
      {"PROPFIND", Method::other, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(find_method(c.text), c.method) << c.text;
    EXPECT_EQ(is_idempotent(c.method), c.idempotent) << c.text;
  }
}

TEST(ReasonPhrase, IsThatOfTheRegistry) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(404), "Not Found");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_phrase(508), "Loop Detected");
  EXPECT_EQ(reason_phrase(299), "");
  EXPECT_EQ(reason_phrase(0), "");
  EXPECT_EQ(reason_phrase(999), "");
}

TEST(ResponseBody, DependsOnMethodAndStatus) {
  EXPECT_TRUE(may_have_body(Method::get, 200));
  EXPECT_FALSE(may_have_body(Method::head, 200));
  EXPECT_FALSE(may_have_body(Method::get, 100));
  EXPECT_FALSE(may_have_body(Method::get, 101));
  EXPECT_FALSE(may_have_body(Method::get, 204));
  EXPECT_FALSE(may_have_body(Method::get, 304));
  EXPECT_FALSE(may_have_body(Method::connect, 200));
  EXPECT_TRUE(may_have_body(Method::connect, 407));
}

TEST(BodySize, IsEmptyWithoutBytesToCome) {
  EXPECT_TRUE((BodySize{}).is_empty());
  EXPECT_TRUE((BodySize{.kind = BodyKind::sized}).is_empty());
  EXPECT_FALSE((BodySize{.kind = BodyKind::sized, .bytes = 1}).is_empty());
  EXPECT_FALSE((BodySize{.kind = BodyKind::streamed}).is_empty());
}

TEST(Heads, AreAsNewWhenCleared) {
  RequestHead request;
  request.version = Version::http10;
  request.method = Method::put;
  request.method_text = request.scheme = request.authority = request.path = request.upgrade = "x";
  request.body = {.kind = BodyKind::tunnel};
  request.expects_continue = request.accepts_trailers = true;
  request.fields.add("a", "b");
  request.clear();
  EXPECT_EQ(request.version, Version::http11);
  EXPECT_EQ(request.method, Method::get);
  EXPECT_TRUE(request.method_text.empty() && request.scheme.empty() && request.authority.empty());
  EXPECT_TRUE(request.path.empty() && request.upgrade.empty() && request.fields.empty());
  EXPECT_EQ(request.body, BodySize{});
  EXPECT_FALSE(request.expects_continue || request.accepts_trailers);

  ResponseHead response;
  response.status = 200;
  response.reason = response.upgrade = "x";
  response.declared_length = 1;
  response.body = {.kind = BodyKind::tunnel};
  response.fields.add("a", "b");
  response.clear();
  EXPECT_EQ(response.status, 0);
  EXPECT_TRUE(response.reason.empty() && response.upgrade.empty() && response.fields.empty());
  EXPECT_FALSE(response.declared_length.has_value());
  EXPECT_EQ(response.body, BodySize{});
}

TEST(ResponseHead, IsInterimBelow200ButFor101) {
  ResponseHead head;
  for (const auto& [status, interim] :
       {std::pair{100, true}, {101, false}, {103, true}, {199, true}, {200, false}}) {
    head.status = static_cast<std::uint16_t>(status);
    EXPECT_EQ(head.is_interim(), interim) << status;
  }
}

std::vector<std::string> left_after_drop(
    std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
  FieldList fields;
  for (const auto& [name, value] : list) fields.add(name, value);
  drop_hop_by_hop(fields);
  std::vector<std::string> left;
  for (const Field& field : fields) {
    if (!field.dropped) left.emplace_back(field.name);
  }
  return left;
}

using Names = std::vector<std::string>;

TEST(HopByHop, FieldsAreDropped) {
  EXPECT_EQ(left_after_drop({{"Connection", "close"},
                             {"keep-alive", "1"},
                             {"Proxy-Connection", "1"},
                             {"TE", "trailers"},
                             {"Transfer-Encoding", "chunked"},
                             {"Upgrade", "x"},
                             {"HTTP2-Settings", "x"},
                             {"Proxy-Authenticate", "x"},
                             {"Proxy-Authorization", "x"},
                             {"Proxy-Authentication-Info", "x"},
                             {"Trailer", "x"},
                             {"Accept", "x"}}),
            (Names{"Trailer", "Accept"}));
}

TEST(HopByHop, FieldsNamedByConnectionAreDropped) {
  EXPECT_EQ(left_after_drop({{"X-A", "1"},
                             {"Connection", "x-a, \t X-B"},
                             {"x-b", "2"},
                             {"X-C", "3"},
                             {"connection", "X-c"},
                             {"X-D", "4"},
                             {"x-A", "5"}}),
            Names{"X-D"});
}

TEST(HopByHop, VitalFieldsCannotBeRemovedThroughConnection) {
  const std::string_view vital[] = {"Host",
                                    "Content-Length",
                                    "Content-Type",
                                    "Content-Encoding",
                                    "Via",
                                    "Forwarded",
                                    "X-Forwarded-For",
                                    "X-Forwarded-Host",
                                    "X-Forwarded-Proto",
                                    "X-Forwarded-Port",
                                    "Cache-Control",
                                    "Authorization",
                                    "Cookie",
                                    "Set-Cookie",
                                    "Date"};
  for (const std::string_view name : vital) {
    EXPECT_EQ(left_after_drop({{"Connection", name}, {name, "x"}}), Names{std::string(name)});
  }
  EXPECT_EQ(
      left_after_drop({{"Connection", "contents, Cookie2"}, {"Contents", "x"}, {"Cookie2", "x"}}),
      Names{});
}

TEST(Trailers, MayNotFrameRouteAuthoriseOrModify) {
  for (const std::string_view name : {"Transfer-Encoding",
                                      "content-length",
                                      "Trailer",
                                      "Host",
                                      "Via",
                                      "TE",
                                      "Connection",
                                      "Cache-Control",
                                      "Expect",
                                      "Range",
                                      "If-None-Match",
                                      "Authorization",
                                      "Cookie",
                                      "Set-Cookie",
                                      "WWW-Authenticate",
                                      "Proxy-Authorization",
                                      "Date",
                                      "Age",
                                      "Location",
                                      "Content-Type",
                                      "content-encoding",
                                      "Content-Range",
                                      "X-Forwarded-For",
                                      "Forwarded"}) {
    EXPECT_FALSE(
        may_be_trailer({.name = name, .value = "x", .line = {}, .known = find_known_field(name)}))
        << name;
  }
  for (const std::string_view name : {"grpc-status", "ETag", "Server-Timing", "Digest", "X-A"}) {
    EXPECT_TRUE(
        may_be_trailer({.name = name, .value = "x", .line = {}, .known = find_known_field(name)}))
        << name;
  }
}

}  // namespace
}  // namespace titanium::http
