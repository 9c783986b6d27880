// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "config/document.h"

namespace titanium::config {
namespace {

TEST(ParseYaml, GivesEveryKeyAndItemItsPositionCountedFromOne) {
  const auto document = parse_yaml("a: 1\nb:\n  - x\n  - {c: y}\n");
  ASSERT_TRUE(document.problems.empty());
  const Value& root = document.root;
  ASSERT_EQ(root.kind, Value::Kind::map);
  ASSERT_EQ(root.members.size(), 2U);
  EXPECT_EQ(root.members[0].position, (Position{1, 1}));
  EXPECT_EQ(root.members[0].value.text, "1");
  EXPECT_EQ(root.members[0].value.position, (Position{1, 4}));
  const Value& list = root.members[1].value;
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].position, (Position{3, 5}));
  EXPECT_EQ(list.items[1].members[0].position, (Position{4, 6}));
}

TEST(ParseYaml, TellsNullFromAnEmptyText) {
  const auto document = parse_yaml("a:\nb: null\nc: ~\nd: ''\ne: 'null'\n");
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(document.root.find(key)->kind, Value::Kind::null) << key;
  }
  EXPECT_EQ(document.root.find("d")->kind, Value::Kind::scalar);
  EXPECT_EQ(document.root.find("e")->text, "null");
  EXPECT_EQ(document.root.find("f"), nullptr);
}

TEST(ParseYaml, TakesAnEmptyFileForNull) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) {
    const auto document = parse_yaml(text);
    EXPECT_TRUE(document.problems.empty()) << text;
    EXPECT_EQ(document.root.kind, Value::Kind::null) << text;
  }
}

TEST(ParseYaml, ExpandsAliases) {
  const auto document = parse_yaml("a: &x {k: v}\nb: *x\n");
  ASSERT_TRUE(document.problems.empty());
  EXPECT_EQ(document.root.find("b")->find("k")->text, "v");
}

struct Refused {
  std::string_view name;
  std::string text;
  Position position;
  std::string message;
  bool is_whole;
};

std::string bomb() {
  // Ten levels of ten aliases each: 10^10 values from 400 bytes.
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i <= 10; ++i) {
    std::string aliases;
    for (int j = 0; j < 10; ++j) aliases += fmt::format("{}*a{}", j == 0 ? "" : ", ", i - 1);
    text += fmt::format("a{}: &a{} [{}]\n", i, i, aliases);
  }
  return text;
}

std::string text_bomb() {
  std::string text = "a: &a " + std::string(100'000, 'x') + "\nb: [*a";
  for (int i = 0; i < 1'000; ++i) text += ", *a";
  return text + "]\n";
}

std::string nested(int depth) {
  std::string text = "a: ";
  for (int i = 0; i < depth; ++i) text += '[';
  for (int i = 0; i < depth; ++i) text += ']';
  return text + "\n";
}

TEST(ParseYaml, RefusesWhatCannotBeReadInOneWay) {
  const Refused cases[] = {
      {"key twice",
       "a: 1\nb: 2\na: 3\n",
       {3, 1},
       "the key 'a' is given twice, first in line 1",
       true},
      {"key twice within",
       "a: {b: 1, b: 2}\n",
       {1, 11},
       "the key 'b' is given twice, first in line 1",
       true},
      {"merge key",
       "a: &x {k: v}\nb:\n  <<: *x\n",
       {3, 3},
       "merge keys ('<<') are not supported",
       true},
      {"a key that is a list", "? [a, b]\n: 1\n", {1, 3}, "a key must be a text", true},
      {"two documents",
       "a: 1\n---\nb: 2\n",
       {3, 1},
       "not valid YAML: the file has more than one document ('---')",
       false},
      {"unknown alias",
       "a: *x\n",
       {1, 4},
       "not valid YAML: the referenced anchor is not defined: x",
       false},
      {"open bracket",
       "a: [1, 2\n",
       {2, 1},
       "not valid YAML: end of sequence flow not found",
       false},
  };
  for (const Refused& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto document = parse_yaml(c.text);
    ASSERT_EQ(document.problems.size(), 1U);
    EXPECT_EQ(document.problems[0].position, c.position);
    EXPECT_EQ(document.problems[0].message, c.message);
    EXPECT_EQ(document.is_whole, c.is_whole);
  }
}

TEST(ParseYaml, BoundsWhatAliasesExpandTo) {
  for (const std::string& text : {bomb(), text_bomb(), std::string("a: &a [*a]\n")}) {
    SCOPED_TRACE(text.substr(0, 40));
    const auto document = parse_yaml(text);
    ASSERT_EQ(document.problems.size(), 1U);
    EXPECT_FALSE(document.is_whole);
    const std::string& message = document.problems[0].message;
    EXPECT_TRUE(message == "the file has more than 200000 values, aliases expanded" ||
                message == "the file has more than 16 MiB of text, aliases expanded" ||
                message == "the file is nested more than 64 levels deep")
        << message;
  }
}

TEST(ParseYaml, BoundsTheDepth) {
  EXPECT_TRUE(parse_yaml(nested(kMaxDepth)).problems.empty());
  EXPECT_EQ(parse_yaml(nested(kMaxDepth + 1)).problems.size(), 1U);
  // Far beyond what the parser itself would survive by recursion.
  const auto document = parse_yaml(nested(100'000));
  EXPECT_EQ(document.problems.size(), 1U);
  EXPECT_FALSE(document.is_whole);
}

}  // namespace
}  // namespace titanium::config
