// SPDX-License-Identifier: MIT
#include "http1/framing.h"

#include <gtest/gtest.h>

#include <vector>

namespace titanium::http1 {
namespace {

using http::Method;
using http::Version;
using Values = std::vector<std::string_view>;

TEST(RequestFraming, IsNothingLengthOrChunked) {
  EXPECT_EQ(request_framing({}, {}, Version::http11), MessageFraming{});
  EXPECT_EQ(request_framing(Values{"0"}, {}, Version::http10),
            (MessageFraming{.framing = Framing::fixed}));
  EXPECT_EQ(request_framing(Values{"007"}, {}, Version::http11),
            (MessageFraming{.framing = Framing::fixed, .bytes = 7}));
  EXPECT_EQ(request_framing(Values{"9223372036854775807"}, {}, Version::http11),
            (MessageFraming{.framing = Framing::fixed, .bytes = 9'223'372'036'854'775'807}));
  EXPECT_EQ(request_framing({}, Values{"cHuNkEd"}, Version::http11),
            (MessageFraming{.framing = Framing::chunked}));
}

struct Refused {
  std::string_view name;
  Values content_length;
  Values transfer_encoding;
  Code code = Code::protocol;
  Version version = Version::http11;
};

const std::vector<Refused>& refused_framings() {
  static const std::vector<Refused> kCases = {
      {"both fields", {"5"}, {"chunked"}},
      {"both fields, length zero", {"0"}, {"chunked"}},
      {"both fields, unknown coding", {"5"}, {"gzip"}},
      {"two lengths that agree", {"5", "5"}, {}},
      {"two lengths that differ", {"5", "6"}, {}},
      {"a list of lengths", {"5, 5"}, {}},
      {"plus sign", {"+5"}, {}},
      {"minus sign", {"-1"}, {}},
      {"leading blank", {" 5"}, {}},
      {"trailing blank", {"5 "}, {}},
      {"blank within", {"5 5"}, {}},
      {"trailing junk", {"5x"}, {}},
      {"hexadecimal", {"0x5"}, {}},
      {"decimal point", {"5.0"}, {}},
      {"empty", {""}, {}},
      {"fullwidth digit", {"\xef\xbc\x95"}, {}},
      {"negative for a signed parser", {"9223372036854775808"}, {}},
      {"larger than 64 bits", {"18446744073709551616"}, {}},
      {"much larger than 64 bits", {"99999999999999999999999999"}, {}},
      {"a row of leading zeros", {"000000000000000000005"}, {}},
      {"chunked is not last", {}, {"chunked, gzip"}},
      {"chunked is not last, on two lines", {}, {"chunked", "gzip"}},
      {"chunked twice", {}, {"chunked, chunked"}},
      {"chunked twice, on two lines", {}, {"chunked", "chunked"}},
      {"chunked twice around another", {}, {"chunked, gzip, chunked"}},
      {"empty value", {}, {""}},
      {"empty element in front", {}, {", chunked"}},
      {"empty element behind", {}, {"chunked,"}},
      {"empty second line", {}, {"chunked", ""}},
      {"quoted", {}, {"\"chunked\""}},
      {"with a parameter", {}, {"chunked;q=1"}},
      {"with an empty parameter", {}, {"chunked;"}},
      {"two words", {}, {"chunked foo"}},
      {"vertical tab",
       {},
       {"\x0b"
        "chunked"}},
      {"no-break space",
       {},
       {"\xc2\xa0"
        "chunked"}},
      {"chunked in HTTP/1.0", {}, {"chunked"}, Code::protocol, Version::http10},
      {"other coding", {}, {"gzip"}, Code::unsupported},
      {"other coding with a parameter", {}, {"foo;a=b"}, Code::unsupported},
      {"identity", {}, {"identity"}, Code::unsupported},
      {"almost chunked", {}, {"xchunked"}, Code::unsupported},
      {"other coding, then chunked", {}, {"gzip, chunked"}, Code::unsupported},
      {"other coding, then chunked, on two lines", {}, {"gzip", "chunked"}, Code::unsupported},
  };
  return kCases;
}

TEST(RequestFraming, RefusesWhateverTwoParsersCouldReadDifferently) {
  for (const auto& c : refused_framings()) {
    SCOPED_TRACE(std::string(c.name));
    const auto framing = request_framing(c.content_length, c.transfer_encoding, c.version);
    ASSERT_FALSE(framing.has_value());
    EXPECT_EQ(framing.error().code, c.code);
    EXPECT_EQ(framing.error().side, Side::client);
    EXPECT_EQ(framing.error().status, c.code == Code::unsupported ? 501 : 400);
  }
}

TEST(ResponseFraming, RefusesTheSameForEveryMethodAndStatus) {
  for (const auto& c : refused_framings()) {
    SCOPED_TRACE(std::string(c.name));
    for (const Method method : {Method::get, Method::head, Method::connect}) {
      for (const std::uint16_t status : std::initializer_list<std::uint16_t>{200, 204, 304, 404}) {
        const auto framing =
            response_framing(method, status, c.content_length, c.transfer_encoding, c.version);
        ASSERT_FALSE(framing.has_value());
        EXPECT_EQ(framing.error().side, Side::origin);
        EXPECT_EQ(framing.error().status, 502);
      }
    }
  }
}

TEST(ResponseFraming, FollowsTheOrderOfTheRfc) {
  struct Case {
    Method method;
    std::uint16_t status;
    Values content_length, transfer_encoding;
    MessageFraming expected;
  };
  const MessageFraming none{}, tunnel{.framing = Framing::tunnel};
  const MessageFraming five{.framing = Framing::fixed, .bytes = 5};
  const MessageFraming chunked{.framing = Framing::chunked};
  const MessageFraming until_close{.framing = Framing::until_close};
  const Case cases[] = {
      {Method::head, 200, {"5"}, {}, none},
      {Method::head, 200, {}, {"chunked"}, none},
      {Method::get, 100, {}, {}, none},
      {Method::get, 101, {}, {}, tunnel},
      {Method::get, 204, {"5"}, {}, none},
      {Method::get, 304, {"5"}, {}, none},
      {Method::get, 304, {}, {"chunked"}, none},
      {Method::connect, 200, {"5"}, {}, tunnel},
      {Method::connect, 200, {}, {"chunked"}, tunnel},
      {Method::connect, 204, {}, {}, tunnel},
      {Method::connect, 407, {"5"}, {}, five},
      {Method::get, 200, {"5"}, {}, five},
      {Method::post, 500, {}, {"chunked"}, chunked},
      {Method::get, 200, {}, {}, until_close},
      {Method::get, 205, {}, {}, until_close},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(response_framing(c.method, c.status, c.content_length, c.transfer_encoding,
                               Version::http11),
              c.expected)
        << c.status;
  }
}

}  // namespace
}  // namespace titanium::http1
