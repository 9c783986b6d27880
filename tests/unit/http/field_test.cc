// SPDX-License-Identifier: MIT
#include "http/field.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace titanium::http {
namespace {

TEST(KnownField, IsFoundInAnyCaseAndHasACanonicalName) {
  for (std::size_t i = 1; i < kKnownFieldCount; ++i) {
    const auto field = static_cast<KnownField>(i);
    std::string name(canonical_name(field));
    ASSERT_FALSE(name.empty()) << i;
    EXPECT_EQ(find_known_field(name), field) << name;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(find_known_field(name), field) << name;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_EQ(find_known_field(name), field) << name;
  }
}

TEST(KnownField, IsNotFoundByAlmostItsName) {
  for (const std::string_view name :
       {"", "t", "tf", "hosts", "hos", "xost", "content_length", "content-lengtH ", "x-te",
        "proxy-authentication-info-", "connectioo", "\x08ost", "\xc8ost"}) {
    EXPECT_EQ(find_known_field(name), KnownField::other) << name;
  }
  EXPECT_EQ(find_known_field(std::string(300, 'a')), KnownField::other);
}

TEST(FieldList, FindsTheFirstFieldThatIsNotDropped) {
  FieldList fields;
  fields.add("A", "1");
  fields.add("Via", "2");
  fields.add("a", "3");
  fields.add("VIA", "4");
  EXPECT_TRUE(fields.has(KnownField::via));
  EXPECT_FALSE(fields.has(KnownField::host));
  EXPECT_EQ(fields.find(KnownField::via)->value, "2");
  EXPECT_EQ(fields.find("via")->value, "2");
  EXPECT_EQ(fields.find("A")->value, "1");
  EXPECT_EQ(fields.find("b"), nullptr);
  EXPECT_EQ(fields.find(KnownField::host), nullptr);

  fields.drop("a");
  fields.drop(KnownField::via);
  EXPECT_EQ(fields.find("a"), nullptr);
  EXPECT_EQ(fields.find(KnownField::via), nullptr);
  EXPECT_TRUE(fields.has(KnownField::via)) << "dropped, but it was there";
  EXPECT_EQ(fields.size(), 4u);
}

TEST(FieldList, DropsKnownFieldsByNameToo) {
  FieldList fields;
  fields.add("Host", "1");
  fields.drop("hOST");
  EXPECT_TRUE(fields.begin()->dropped);
}

TEST(FieldList, ForgetsEverythingWhenCleared) {
  FieldList fields;
  fields.add("Via", "2");
  fields.clear();
  EXPECT_TRUE(fields.empty());
  EXPECT_FALSE(fields.has(KnownField::via));
}

TEST(Token, IsMadeOfTokenBytesOnly) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  EXPECT_TRUE(is_token(kToken));
  EXPECT_FALSE(is_token(""));
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    EXPECT_EQ(is_token(std::string{'a', byte, 'b'}), kToken.contains(byte) && c != 0) << c;
  }
}

TEST(FieldValue, HasNoControlBytesButTab) {
  EXPECT_TRUE(is_field_value(""));
  EXPECT_TRUE(is_field_value(std::string_view{}));
  for (int c = 0; c < 256; ++c) {
    for (const std::size_t size : {1u, 7u, 16u, 17u, 40u}) {
      std::string text(size, 'a');
      text[size - 1] = static_cast<char>(c);
      const bool good = (c >= 0x20 && c != 0x7f) || c == '\t';
      EXPECT_EQ(is_field_value(text), good) << c << " in " << size;
    }
  }
}

TEST(EqualsIgnoreCase, IsAboutAsciiLettersOnly) {
  EXPECT_TRUE(equals_ignore_case("", ""));
  EXPECT_TRUE(equals_ignore_case("Content-Length", "cONTENT-lENGTH"));
  EXPECT_FALSE(equals_ignore_case("a", "ab"));
  EXPECT_FALSE(equals_ignore_case("@", "`"));
  EXPECT_FALSE(equals_ignore_case("[", "{"));
  EXPECT_FALSE(equals_ignore_case("-", "\r"));
  EXPECT_FALSE(equals_ignore_case("\xc4", "\xe4"));
}

TEST(TrimBlanks, TakesSpacesAndTabsOffBothSides) {
  EXPECT_EQ(trim_blanks(" \t a b\t "), "a b");
  EXPECT_EQ(trim_blanks(" \t "), "");
  EXPECT_EQ(trim_blanks("\xa0"
                        "a\x0b"),
            "\xa0"
            "a\x0b");
}

std::vector<std::string> elements(std::string_view list) {
  std::vector<std::string> all;
  std::string_view element;
  while (next_list_element(list, element)) all.emplace_back(element);
  return all;
}

TEST(ListElements, AreSeparatedByCommasOutsideOfQuotes) {
  using List = std::vector<std::string>;
  EXPECT_EQ(elements(""), List{});
  EXPECT_EQ(elements(" , ,\t,"), List{});
  EXPECT_EQ(elements("a"), List{"a"});
  EXPECT_EQ(elements(" a , b,,c ,"), (List{"a", "b", "c"}));
  EXPECT_EQ(elements("a=\"b,c\", d"), (List{"a=\"b,c\"", "d"}));
  EXPECT_EQ(elements("\"a\\\",b\",c"), (List{"\"a\\\",b\"", "c"}));
  EXPECT_EQ(elements("\"a,b"), List{"\"a,b"});
  EXPECT_EQ(elements("\"a\\"), List{"\"a\\"});
}

TEST(ListContains, ComparesWholeElements) {
  EXPECT_TRUE(list_contains("keep-alive, Upgrade", "upgrade"));
  EXPECT_FALSE(list_contains("keep-alive, upgraded", "upgrade"));
  EXPECT_FALSE(list_contains("\"close\"", "close"));
  EXPECT_FALSE(list_contains("", "close"));
}

}  // namespace
}  // namespace titanium::http
