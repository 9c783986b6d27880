// SPDX-License-Identifier: MIT
#include "config/text_values.h"

#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace titanium::config {
namespace {

struct Case {
  Type type;
  std::string_view text;
  std::string_view expected;  // The stored form, or the message.
};

TEST(CheckText, StoresValuesInOneForm) {
  const Case cases[] = {
      {Type::host, "WWW.Example.COM", "www.example.com"},
      {Type::host, "10.0.0.1", "10.0.0.1"},
      {Type::host, "[2001:DB8::0:1]", "2001:db8::1"},
      {Type::host, "::1", "::1"},
      {Type::host, "my_service-1", "my_service-1"},
      {Type::host_pattern, "*.Example.com", "*.example.com"},
      {Type::host_patterns, "a", "a"},
      {Type::bind_address, "*", "0.0.0.0"},
      {Type::bind_address, "LOCALHOST", "127.0.0.1"},
      {Type::bind_address, "[::]", "::"},
      {Type::endpoint, "9.9.9.9", "9.9.9.9:53"},
      {Type::endpoint, "127.0.0.1:5353", "127.0.0.1:5353"},
      {Type::endpoint, "::1", "[::1]:53"},
      {Type::endpoint, "[::1]:5353", "[::1]:5353"},
      {Type::token, "titanium", "titanium"},
      {Type::token, "", ""},
      {Type::path, "/a b{", "/a b{"},  // What is in it depends on pathKind.
      {Type::method, "PROPFIND", "PROPFIND"},
      {Type::text, " any text ", " any text "},
  };
  for (const Case& c : cases) {
    const auto checked = check_text(c.type, c.text, "/base");
    ASSERT_TRUE(checked.has_value()) << c.text << ": " << checked.error().message;
    EXPECT_EQ(*checked, c.expected);
  }
}

TEST(CheckText, SaysWhatIsWrong) {
  const Case cases[] = {
      {Type::host, "", "must not be empty"},
      {Type::host, "http://a", "'http://a' is a URL, not a host"},
      {Type::host, "a:80", "'a:80' has a port"},
      {Type::host, "a:", "'a:' has a port"},
      {Type::host, "a b", "'a b' is not a valid host"},
      {Type::host, "user@a", "'user@a' is not a valid host"},
      {Type::host, "a/b", "'a/b' is not a valid host"},
      {Type::host, "1.2.3.256", "'1.2.3.256' is not a valid IP address"},
      {Type::host, "1.2.3", "'1.2.3' is not a valid IP address"},
      {Type::host, "[::1", "'[::1' is not a valid host"},
      {Type::host, std::string_view("a\0b", 3), "has a NUL byte"},
      {Type::host_pattern, "*", "'*' is not a host"},
      {Type::host_pattern, "a.*.b", "'a.*.b' has a '*' that is not its first label"},
      {Type::host_pattern, "*a.b", "'*a.b' has a '*' that is not its first label"},
      {Type::host_pattern, "*.", "'' is not a valid host"},
      {Type::bind_address, "example.com", "'example.com' is not an IP address"},
      {Type::bind_address, "127.0.0.1:80", "'127.0.0.1:80' is not an IP address"},
      {Type::endpoint, "dns.example", "'dns.example' is not an IP address with or without a port"},
      {Type::endpoint, "1.1.1.1:0", "0 is out of range (1 to 65535)"},
      {Type::endpoint, "1.1.1.1:", "'' is not a whole number"},
      {Type::token, "a b", "'a b' is not a token"},
      {Type::path, "a", "'a' does not start with '/'"},
      {Type::path, "/a?b", "'/a?b' has a query"},
      {Type::method, "get", "'get' has small letters, and methods are case-sensitive"},
      {Type::method, "GE T", "'GE T' is not a method"},
      {Type::text, "", "must not be empty"},
  };
  for (const Case& c : cases) {
    const auto checked = check_text(c.type, c.text, "/base");
    ASSERT_FALSE(checked.has_value()) << c.text;
    EXPECT_EQ(checked.error().message, c.expected);
  }
}

TEST(CheckText, ResolvesFilesFromTheBaseFolderAndLooksForThem) {
  const TempFolder folder;
  const std::string file = folder.write("a.pem", "x");
  const std::filesystem::path base = folder.at("");
  EXPECT_EQ(check_text(Type::input_file, "a.pem", base), file);
  EXPECT_EQ(check_text(Type::input_file, "./x/../a.pem", base), file);
  EXPECT_EQ(check_text(Type::input_file, file, "/elsewhere"), file);
  EXPECT_EQ(check_text(Type::output_file, "new.log", base), folder.at("new.log"));

  EXPECT_EQ(check_text(Type::input_file, "b.pem", base).error().message,
            "the file '" + folder.at("b.pem") + "' does not exist");
  EXPECT_EQ(check_text(Type::input_file, folder.at("."), base).error().message,
            "'" + folder.at("") + "' is a folder, not a file");
  EXPECT_EQ(check_text(Type::output_file, "no/new.log", base).error().message,
            "the folder '" + folder.at("no") + "' does not exist");
  EXPECT_FALSE(check_text(Type::output_file, folder.at("."), base).has_value());
}

TEST(ParseNumbers, TakeTheWholeTextAndKeepTheRange) {
  EXPECT_EQ(parse_integer("0", 0, 5), 0);
  EXPECT_EQ(parse_integer("-5", -5, 5), -5);
  EXPECT_EQ(parse_number("0.25", 0, 1), 0.25);
  EXPECT_EQ(parse_number("1e0", 0, 1), 1.0);
  struct Bad {
    std::string_view text;
    std::string_view message;
  };
  const Bad integers[] = {
      {"6", "6 is out of range (0 to 5)"},
      {"-1", "-1 is out of range (0 to 5)"},
      {"99999999999999999999", "99999999999999999999 is out of range (0 to 5)"},
      {"1x", "'1x' is not a whole number"},
      {"1.0", "'1.0' is not a whole number"},
      {"+1", "'+1' is not a whole number"},
      {" 1", "' 1' is not a whole number"},
      {"0x1", "'0x1' is not a whole number"},
      {"", "'' is not a whole number"},
  };
  for (const Bad& c : integers) {
    ASSERT_FALSE(parse_integer(c.text, 0, 5).has_value()) << c.text;
    EXPECT_EQ(parse_integer(c.text, 0, 5).error().message, c.message);
  }
  for (const std::string_view text : {"1.01", "nan", "inf", "-0.1", "1e400", "", "1s"}) {
    EXPECT_FALSE(parse_number(text, 0, 1).has_value()) << text;
  }
}

TEST(ParseBoolean, KnowsTheWordsOfYamlInAnyCase) {
  for (const std::string_view text : {"true", "True", "yes", "on", "ON"}) {
    EXPECT_EQ(parse_boolean(text), true) << text;
  }
  for (const std::string_view text : {"false", "FALSE", "no", "off"}) {
    EXPECT_EQ(parse_boolean(text), false) << text;
  }
  for (const std::string_view text : {"", "1", "0", "y", "truee"}) {
    EXPECT_FALSE(parse_boolean(text).has_value()) << text;
  }
}

TEST(IsPkcs12, LooksAtTheSuffix) {
  EXPECT_TRUE(is_pkcs12("a.pfx"));
  EXPECT_TRUE(is_pkcs12("/x/a.P12"));
  EXPECT_FALSE(is_pkcs12("a.pem"));
  EXPECT_FALSE(is_pkcs12(".pfx"));
}

}  // namespace
}  // namespace titanium::config
