// SPDX-License-Identifier: MIT
#include "http/uri.h"

#include <gtest/gtest.h>

namespace titanium::http {
namespace {

TEST(Authority, IsAHostAndPerhapsAPort) {
  struct Case {
    std::string_view text, host;
    std::optional<std::uint16_t> port;
    bool is_ipv6 = false;
  };
  const Case cases[] = {
      {"example.com", "example.com", {}},
      {"example.com:80", "example.com", 80},
      {"example.com:", "example.com", {}},
      {"a_b-c~d!$&'()*+,;=", "a_b-c~d!$&'()*+,;=", {}},
      {"a%41", "a%41", {}},
      {"127.0.0.1:65535", "127.0.0.1", 65'535},
      {"h:0", "h", 0},
      {"h:00080", "h", 80},
      {"[::1]", "::1", {}, true},
      {"[2001:DB8::192.0.2.1]:443", "2001:DB8::192.0.2.1", 443, true},
      {"[::]:", "::", {}, true},
  };
  for (const auto& c : cases) {
    const auto authority = parse_authority(c.text);
    ASSERT_TRUE(authority.has_value()) << c.text;
    EXPECT_EQ(authority->host, c.host);
    EXPECT_EQ(authority->port, c.port) << c.text;
    EXPECT_EQ(authority->is_ipv6, c.is_ipv6);
  }
  EXPECT_TRUE(parse_authority(std::string(255, 'a')).has_value());
}

TEST(Authority, IsRefusedWithAnythingElse) {
  using namespace std::string_view_literals;
  constexpr std::string_view kBad[] = {"",
                                       ":80",
                                       " h",
                                       "h ",
                                       "a b",
                                       "u@h",
                                       "u:p@h",
                                       "h:65536",
                                       "h:100000",
                                       "h:000080",
                                       "h:-1",
                                       "h:8a",
                                       "h:80:80",
                                       "::1",
                                       "[::1",
                                       "[::1]x",
                                       "[::1]80",
                                       "[]",
                                       "[1]",
                                       "[::1%25eth0]",
                                       "[::1\0]"sv,
                                       "[::1\0x]:80"sv,
                                       "[v1.a]",
                                       "[::1::]",
                                       "h/",
                                       "h?",
                                       "h#",
                                       "h\\",
                                       "a%4",
                                       "a%zz",
                                       "a%",
                                       "h\r\n",
                                       "h\0"sv,
                                       "\x7f",
                                       "\xc3\xa9",
                                       "<h>",
                                       "\"h\"",
                                       "{h}",
                                       "h\t",
                                       "[127.0.0.1]",
                                       "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]"};
  for (const std::string_view text : kBad) {
    EXPECT_FALSE(parse_authority(text).has_value()) << text;
  }
  EXPECT_FALSE(parse_authority(std::string(256, 'a')).has_value());
}

TEST(AbsoluteUri, HasSchemeAuthorityAndPath) {
  struct Case {
    std::string_view text, scheme, authority, path;
  };
  const Case cases[] = {
      {"http://h", "http", "h", "/"},
      {"HTTPS://h:1/a?b", "HTTPS", "h:1", "/a?b"},
      {"http://[::1]:8/", "http", "[::1]:8", "/"},
      {"http://h//a", "http", "h", "//a"},
  };
  for (const auto& c : cases) {
    const auto uri = parse_absolute_uri(c.text);
    ASSERT_TRUE(uri.has_value()) << c.text;
    EXPECT_EQ(uri->scheme, c.scheme);
    EXPECT_EQ(uri->authority, c.authority);
    EXPECT_EQ(uri->path, c.path);
  }
}

TEST(AbsoluteUri, IsRefusedIfNotHttpOrAmbiguous) {
  for (const std::string_view text : {"",
                                      "http",
                                      "http:",
                                      "http:/",
                                      "http:/h",
                                      "http://",
                                      "http:///",
                                      "http://:80/",
                                      "ftp://h/",
                                      "httpss://h/",
                                      "//h/",
                                      "http://u@h/",
                                      "http://u:p@h/",
                                      "http://h?a",
                                      "http://h#a",
                                      "http://h/#a",
                                      "http://h\\a",
                                      "http://h/a b",
                                      "http://h:x/",
                                      " http://h/",
                                      "http ://h/"}) {
    EXPECT_FALSE(parse_absolute_uri(text).has_value()) << text;
  }
}

TEST(OriginForm, TakesWhatClientsAreKnownToSend) {
  for (const std::string_view target : {"/", "/a/b;c=d", "/a?", "/a?b?c/d", "/a?b=\\", "//a",
                                        "/[a]|{b}^`\"<>", "/\xc3\xa9?\xff", "/:@!$&'()*+,;=-._~"}) {
    EXPECT_TRUE(check_origin_form(target).has_value()) << target;
  }
}

TEST(OriginForm, IsRefusedWithTheRest) {
  using namespace std::string_view_literals;
  constexpr std::string_view kBad[] = {
      "",      "a",     "*",     "?a", "/#",  "/a?b#c", "/a b", "/a\tb", "/a\r",  "/a\n",
      "/\0"sv, "/\x7f", "/a\\b", "/%", "/%4", "/%4g",   "/?%",  "/?%4",  "/?%g4", "http://h/"};
  for (const std::string_view target : kBad) {
    EXPECT_FALSE(check_origin_form(target).has_value()) << target;
  }
}

TEST(Query, BeginsAtTheFirstQuestionMark) {
  const auto split = split_query("/a?b?c");
  EXPECT_EQ(split.path, "/a");
  EXPECT_EQ(split.query, "b?c");
  EXPECT_TRUE(split.has_query);
  EXPECT_TRUE(split_query("/a?").has_query);
  EXPECT_FALSE(split_query("/a").has_query);
  EXPECT_EQ(split_query("*").path, "*");
}

TEST(NormalizedPath, IsTheSameForEquivalentPaths) {
  struct Case {
    std::string_view path, expected;
  };
  const Case cases[] = {
      {"/", "/"},
      {"", "/"},
      {"*", "*"},
      {"/a/b/c/./../../g", "/a/g"},  // RFC 3986 §5.2.4.
      {"/.", "/"},
      {"/..", "/"},
      {"/../../a", "/a"},
      {"/a/.", "/a/"},
      {"/a/..", "/"},
      {"/a/b/..", "/a/"},
      {"/a/./b", "/a/b"},
      {"/...", "/..."},
      {"/.a/..b", "/.a/..b"},
      {"//a//b/", "//a//b/"},
      {"/a//../b", "/a/b"},
      {"/%61%2D%7E%5f", "/a-~_"},
      {"/a%2fb%2Fc", "/a%2Fb%2Fc"},
      {"/%c3%A9", "/%C3%A9"},
      {"/a/%2e%2E/b", "/b"},
      {"/%2e", "/"},
      {"/a/%2e%2e%2fb", "/a/..%2Fb"},
      {"/%252e%252e/a", "/%252e%252e/a"},
      {"/%", "/%25"},
      {"/%%32%65", "/%252e"},
      {"a", "/a"},
      {"../a", "/a"},
  };
  std::string out = "old";
  for (const auto& c : cases) {
    normalize_path(c.path, out);
    EXPECT_EQ(out, c.expected) << c.path;
    std::string again;
    normalize_path(out, again);
    EXPECT_EQ(again, out) << "not idempotent for " << c.path;
  }
}

}  // namespace
}  // namespace titanium::http
