// SPDX-License-Identifier: MIT
#include "route/path_template.h"

#include <gtest/gtest.h>

namespace titanium::route {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view path;
  bool matches;
};

TEST(PathTemplate, MatchesSegmentBySegment) {
  const Case cases[] = {
      {"/users/{id}", "/users/5", true},
      {"/users/{id}", "/users/5/", false},
      {"/users/{id}", "/users/", false},
      {"/users/{id}", "/users", false},
      {"/users/{id}", "/users/5/posts", false},
      {"/users/{id}", "/Users/5", false},
      {"/users/{id}", "/usersx/5", false},
      {"/users/{id}", "users/5", false},
      {"/users/{id}", "", false},
      {"/users/{id}", "*", false},
      {"/users/{id}/posts/{post}", "/users/5/posts/7", true},
      {"/users/{id}/posts/{post}", "/users//posts/7", false},
      {"/{a}/{b}", "/x/y", true},
      {"/{a}/{b}", "/x", false},
      {"/{a}", "/", false},
      {"/", "/", true},
      {"/", "/a", false},
      {"/a/", "/a/", true},
      {"/a/", "/a", false},
      {"/a//b", "/a//b", true},
      {"/%41/b", "/A/b", true},  // Both sides are normalised.
      {"/a%2Fb", "/a%2Fb", true},
      {"/a%2fb", "/a/b", false},
  };
  for (const Case& c : cases) {
    const auto parsed = PathTemplate::parse(c.pattern);
    ASSERT_TRUE(parsed.has_value()) << c.pattern << ": " << parsed.error();
    EXPECT_EQ(parsed->matches(c.path), c.matches) << c.pattern << " " << c.path;
  }
}

TEST(PathTemplate, TakesTheRestWithADoubleStar) {
  const Case cases[] = {
      {"/files/{rest**}", "/files", true},
      {"/files/{rest**}", "/files/", true},
      {"/files/{rest**}", "/files/a/b/", true},
      {"/files/{**rest}", "/files/a//b", true},
      {"/files/{rest**}", "/filesystem", false},
      {"/files/{rest**}", "/", false},
      {"/{id}/{rest**}", "/a", true},
      {"/{id}/{rest**}", "/", false},
      {"/{rest**}", "/", true},
      {"/{rest**}", "/a/b", true},
      {"/{rest**}", "*", false},
  };
  for (const Case& c : cases) {
    const auto parsed = PathTemplate::parse(c.pattern);
    ASSERT_TRUE(parsed.has_value()) << c.pattern << ": " << parsed.error();
    EXPECT_TRUE(parsed->takes_rest());
    EXPECT_EQ(parsed->matches(c.path), c.matches) << c.pattern << " " << c.path;
  }
}

TEST(PathTemplate, SaysWhatIsWrongWithAPattern) {
  struct Bad {
    std::string_view pattern;
    std::string_view error;
  };
  const Bad cases[] = {
      {"", "a template starts with '/'"},
      {"users/{id}", "a template starts with '/'"},
      {"/{}", "'{}' is neither text nor one hole, {name} or {name**}"},
      {"/{a", "'{a' is neither text nor one hole, {name} or {name**}"},
      {"/a}", "'a}' is neither text nor one hole, {name} or {name**}"},
      {"/v{a}", "'v{a}' is neither text nor one hole, {name} or {name**}"},
      {"/{a}{b}", "'{a}{b}' is neither text nor one hole, {name} or {name**}"},
      {"/{a b}", "'{a b}' is neither text nor one hole, {name} or {name**}"},
      {"/{a*}", "'{a*}' is neither text nor one hole, {name} or {name**}"},
      {"/{**}", "'{**}' is neither text nor one hole, {name} or {name**}"},
      {"/{", "'{' is neither text nor one hole, {name} or {name**}"},
      {"/{a**}/b", "the hole for the rest must be the last segment of the template"},
      {"/{a**}/", "the hole for the rest must be the last segment of the template"},
      {"/{a}/{a}", "the name 'a' is used twice"},
      {"/a/../b", "'..' cannot be a segment of a template"},
      {"/%2e/b", "'%2e' cannot be a segment of a template"},
      {"/a b", "'a b' cannot be a segment of a template"},
      {"/a%zz", "'a%zz' cannot be a segment of a template"},
      {"/a?b", "'a?b' cannot be a segment of a template"},
  };
  for (const Bad& c : cases) {
    const auto parsed = PathTemplate::parse(c.pattern);
    ASSERT_FALSE(parsed.has_value()) << c.pattern;
    EXPECT_EQ(parsed.error(), c.error);
  }
}

TEST(PathTemplate, CountsItsSegments) {
  const auto parsed = PathTemplate::parse("/a/{b}/c/{d**}");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->text_segments(), 2U);
  EXPECT_EQ(parsed->segments(), 3U);
  EXPECT_TRUE(parsed->takes_rest());
}

}  // namespace
}  // namespace titanium::route
