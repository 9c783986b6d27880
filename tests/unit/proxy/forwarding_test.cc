// SPDX-License-Identifier: MIT
#include "proxy/forwarding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace titanium::proxy {
namespace {

http::RequestHead request(std::initializer_list<std::pair<std::string_view, std::string_view>> list,
                          std::string_view authority = "example.org") {
  http::RequestHead head;
  head.authority = authority;
  for (const auto& [name, value] : list) head.fields.add(name, value);
  return head;
}

// What would be written: "Name: value" of each field that is not dropped.
std::vector<std::string> visible(const http::FieldList& fields) {
  std::vector<std::string> lines;
  for (const auto& field : fields) {
    if (!field.dropped) lines.push_back(std::string(field.name) + ": " + std::string(field.value));
  }
  return lines;
}

using Lines = std::vector<std::string>;

struct Case {
  std::string_view name;
  Forwarding options;
  std::initializer_list<std::pair<std::string_view, std::string_view>> received;
  std::string_view client_ip;
  Lines forwarded;
};

TEST(ForwardingRules, AddWhatTheOperatorChose) {
  const Case cases[] = {
      {"X-Forwarded-* replaces what an untrusted client claims",
       {.via_pseudonym = "", .fields = ForwardedFields::x_forwarded, .trust_incoming = false},
       {{"X-Forwarded-For", "6.6.6.6"},
        {"X-Forwarded-Proto", "https"},
        {"Forwarded", "for=6.6.6.6"}},
       "10.0.0.1",
       {"X-Forwarded-For: 10.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: example.org"}},
      {"X-Forwarded-For of a trusted proxy is continued",
       {.via_pseudonym = "", .fields = ForwardedFields::x_forwarded, .trust_incoming = true},
       {{"X-Forwarded-For", "1.1.1.1"},
        {"X-Forwarded-For", "2.2.2.2"},
        {"X-Forwarded-Proto", "https"},
        {"X-Forwarded-Host", "outside.example"}},
       "10.0.0.1",
       {"X-Forwarded-Proto: https", "X-Forwarded-Host: outside.example",
        "X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.0.0.1"}},
      {"Forwarded quotes IPv6 (RFC 7239 §6)",
       {.via_pseudonym = "", .fields = ForwardedFields::forwarded, .trust_incoming = false},
       {{"X-Forwarded-For", "6.6.6.6"}},
       "::1",
       {"Forwarded: for=\"[::1]\";proto=http;host=\"example.org\""}},
      {"Forwarded of a trusted proxy is continued",
       {.via_pseudonym = "", .fields = ForwardedFields::forwarded, .trust_incoming = true},
       {{"Forwarded", "for=1.1.1.1"}},
       "10.0.0.1",
       {"Forwarded: for=1.1.1.1, for=10.0.0.1;proto=http;host=\"example.org\""}},
      {"none leaves the fields alone",
       {.via_pseudonym = "", .fields = ForwardedFields::none, .trust_incoming = false},
       {{"X-Forwarded-For", "1.1.1.1"}},
       "10.0.0.1",
       {"X-Forwarded-For: 1.1.1.1"}},
      {"Via is added behind what is there",
       {.via_pseudonym = "edge", .fields = ForwardedFields::none, .trust_incoming = false},
       {{"Via", "1.0 fred"}},
       "10.0.0.1",
       {"Via: 1.0 fred", "Via: 1.1 edge"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const ForwardingRules rules(c.options);
    http::RequestHead head = request(c.received);
    std::string storage;
    rules.prepare_request(head, c.client_ip, /*encrypted=*/false, storage);
    EXPECT_EQ(visible(head.fields), c.forwarded);
  }
}

TEST(ForwardingRules, NameTheSchemeOfAnEncryptedClient) {
  const ForwardingRules rules({.via_pseudonym = ""});
  http::RequestHead head = request({});
  std::string storage;
  rules.prepare_request(head, "10.0.0.1", /*encrypted=*/true, storage);
  EXPECT_EQ(head.scheme, "https");
  EXPECT_EQ(head.fields.find("x-forwarded-proto")->value, "https");
}

TEST(ForwardingRules, KeepTheirTextsInPlaceWhileManyAreMade) {
  const ForwardingRules rules(
      {.via_pseudonym = "t", .fields = ForwardedFields::both, .trust_incoming = true});
  const std::string chain(5000, '1');
  const std::string forwarded = "for=" + chain;
  http::RequestHead head = request({{"X-Forwarded-For", chain}, {"Forwarded", forwarded}});
  std::string storage = "left from the request before";
  rules.prepare_request(head, "10.0.0.1", false, storage);
  // Views into a string that had moved would be caught by AddressSanitizer here.
  EXPECT_EQ(head.fields.find("x-forwarded-for")->value, chain + ", 10.0.0.1");
  EXPECT_TRUE(head.fields.find("forwarded")->value.starts_with("for=" + chain + ", for=10.0.0.1"));
}

TEST(ForwardingRules, RecogniseTheirOwnPseudonymInVia) {
  const ForwardingRules rules({.via_pseudonym = "Edge-1"});
  const std::pair<std::string_view, bool> cases[] = {
      {"1.1 edge-1", true},          {"1.0 fred, 1.1 Edge-1 (comment)", true},
      {"HTTP/1.1 EDGE-1", true},     {"1.1 edge-10", false},
      {"1.1 other (Edge-1)", false}, {"Edge-1", false},
  };
  for (const auto& [via, loops] : cases) {
    SCOPED_TRACE(std::string(via));
    const auto checked = rules.check_loop(request({{"Via", via}}));
    EXPECT_EQ(checked.has_value(), !loops);
    if (!checked) {
      EXPECT_EQ(checked.error().status, 508);
    }
  }
}

TEST(ForwardingRules, CountMaxForwardsDownForTraceAndOptionsOnly) {
  const ForwardingRules rules({.via_pseudonym = "", .fields = ForwardedFields::none});
  struct Row {
    http::Method method;
    std::string_view received;
    std::string_view forwarded;  // Empty: refused.
  };
  const Row rows[] = {
      {http::Method::trace, "0", ""},    {http::Method::options, "0", ""},
      {http::Method::options, "-1", ""}, {http::Method::options, "x", ""},
      {http::Method::trace, "1", "0"},   {http::Method::options, "10", "9"},
      {http::Method::get, "0", "0"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.received));
    http::RequestHead head = request({{"Max-Forwards", row.received}});
    head.method = row.method;
    ASSERT_EQ(ForwardingRules::check_max_forwards(head).has_value(), !row.forwarded.empty());
    if (row.forwarded.empty()) continue;
    std::string storage;
    rules.prepare_request(head, "10.0.0.1", false, storage);
    EXPECT_EQ(head.fields.find("max-forwards")->value, row.forwarded);
  }
}

TEST(ForwardingRules, AddADateOnlyIfTheOriginSentNone) {
  const ForwardingRules rules({.via_pseudonym = ""});
  constexpr std::string_view now = "Sun, 06 Nov 1994 08:49:37 GMT";
  http::ResponseHead with;
  with.status = 200;
  with.fields.add("Date", "Mon, 07 Nov 1994 08:49:37 GMT");
  rules.prepare_response(with, now);
  EXPECT_EQ(visible(with.fields), Lines{"Date: Mon, 07 Nov 1994 08:49:37 GMT"});
  http::ResponseHead without;
  without.status = 200;
  rules.prepare_response(without, now);
  EXPECT_EQ(visible(without.fields), Lines{"Date: " + std::string(now)});
  http::ResponseHead interim;
  interim.status = 103;
  rules.prepare_response(interim, now);
  EXPECT_EQ(visible(interim.fields), Lines{});
}

}  // namespace
}  // namespace titanium::proxy
