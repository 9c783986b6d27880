// SPDX-License-Identifier: MIT
#include "http1/field_line.h"

#include <gtest/gtest.h>

#include "base/try.h"

namespace titanium::http1 {
namespace {

Result<http::Field> parse(std::string_view line) {
  http::FieldList fields;
  TI_TRY(parse_field_line(line, {.begin = 0, .end = static_cast<std::uint32_t>(line.size() - 2)},
                          Side::origin, fields));
  return fields.back();
}

TEST(FieldLine, IsANameAColonAndAValueWithoutTheBlanksAround) {
  struct Case {
    std::string_view line, name, value;
  };
  const Case cases[] = {
      {"a: b\r\n", "a", "b"},
      {"a:b\r\n", "a", "b"},
      {"a:\r\n", "a", ""},
      {"a: \t \r\n", "a", ""},
      {"a: \t b c \t\r\n", "a", "b c"},
      {"a:::\r\n", "a", "::"},
      {"!#$%&'*+-.^_`|~09azAZ: x\r\n", "!#$%&'*+-.^_`|~09azAZ", "x"},
      {"a: \x80\xff\"\\\r\n", "a", "\x80\xff\"\\"},
  };
  for (const auto& c : cases) {
    const auto field = parse(c.line);
    ASSERT_TRUE(field.has_value()) << c.line;
    EXPECT_EQ(field->name, c.name);
    EXPECT_EQ(field->value, c.value);
  }
}

TEST(FieldLine, KnowsTheFieldsThatTheProxyActsOn) {
  EXPECT_EQ(parse("CONTENT-length: 1\r\n")->known, http::KnownField::content_length);
  EXPECT_EQ(parse("Content-Lengths: 1\r\n")->known, http::KnownField::other);
}

TEST(FieldLine, IsRefusedIfAnotherParserCouldReadItDifferently) {
  struct Case {
    std::string_view line, what;
  };
  const Case cases[] = {
      {" a: b\r\n", "line folding"},
      {"\ta: b\r\n", "line folding"},
      {"a : b\r\n", "blank in or after a field name"},
      {"a\t: b\r\n", "blank in or after a field name"},
      {"a b: c\r\n", "blank in or after a field name"},
      {": b\r\n", "field without a name"},
      {"a\r\n", "field line without a colon"},
      {"a(: b\r\n", "bad character in a field name"},
      {"a\x80: b\r\n", "bad character in a field name"},
      {"\xc2\xa0"
       "a: b\r\n",
       "bad character in a field name"},  // No-break space.
      {"\"a\": b\r\n", "bad character in a field name"},
  };
  for (const auto& c : cases) {
    const auto field = parse(c.line);
    ASSERT_FALSE(field.has_value()) << c.line;
    EXPECT_EQ(field.error().what, c.what);
    EXPECT_EQ(field.error().side, Side::origin);
    EXPECT_EQ(field.error().status, 502);
  }
}

TEST(Version, IsOneDotSomething) {
  EXPECT_EQ(parse_version("HTTP/1.0", Side::client), http::Version::http10);
  EXPECT_EQ(parse_version("HTTP/1.1", Side::client), http::Version::http11);
  EXPECT_EQ(parse_version("HTTP/1.7", Side::client), http::Version::http11);
  EXPECT_EQ(parse_version("HTTP/3.0", Side::client).error().status, 505);
  EXPECT_EQ(parse_version("HTTP/1,1", Side::client).error().status, 400);
  EXPECT_EQ(parse_version("HTTP 1.1", Side::client).error().status, 400);
  EXPECT_EQ(parse_version("HTTP/1.", Side::client).error().status, 400);
}

}  // namespace
}  // namespace titanium::http1
