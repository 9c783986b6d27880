// SPDX-License-Identifier: MIT
#include "cli/log/json_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace titanium::cli {
namespace {

using namespace std::string_view_literals;

[[nodiscard]] std::string escaped(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

struct Escape {
  std::string_view name;
  std::string_view text;
  std::string_view json;
};

TEST(JsonString, EscapesWhatCouldLeaveTheStringOrControlATerminal) {
  const Escape cases[] = {
      {"nothing", "", R"("")"},
      {"plain", "GET /a?b=c", R"("GET /a?b=c")"},
      {"quote", "a\"b", R"("a\"b")"},
      {"backslash", "a\\b", R"("a\\b")"},
      {"line feed", "a\nb", R"("a\u000ab")"},
      {"nul", "a\0b"sv, R"("a\u0000b")"},
      {"terminal escape", "\x1b[31m", R"("\u001b[31m")"},
      {"delete", "\x7f", R"("\u007f")"},
      {"c1 control", "\xc2\x9b", R"("\u009b")"},
      {"several in a row", "\"\\\n", R"("\"\\\u000a")"},
  };
  for (const Escape& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    EXPECT_EQ(escaped(c.text), c.json);
  }
}

TEST(JsonString, PassesWellFormedUtf8AndReplacesTheRest) {
  const Escape cases[] = {
      {"two bytes", "\xc3\xa9", "\"\xc3\xa9\""},
      {"three bytes", "\xe2\x82\xac", "\"\xe2\x82\xac\""},
      {"four bytes", "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
      {"first after the c1 controls", "\xc2\xa0", "\"\xc2\xa0\""},
      {"lone lead", "\xc3", R"("\ufffd")"},
      {"lone continuation", "\x80z", R"("\ufffdz")"},
      {"overlong slash", "\xc0\xaf", R"("\ufffd\ufffd")"},
      {"overlong of three bytes", "\xe0\x80\xaf", R"("\ufffd\ufffd\ufffd")"},
      {"surrogate", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
      {"beyond the last code point", "\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
      {"cut sequence in front of text", "\xe2\x82z", R"("\ufffd\ufffdz")"},
  };
  for (const Escape& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    EXPECT_EQ(escaped(c.text), c.json);
  }
}

TEST(Utf8Prefix, CutsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("abc", 5), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a\xe2\x82\xac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(utf8_prefix("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(utf8_prefix("\xe2\x82\xac", 1), "");
}

}  // namespace
}  // namespace titanium::cli
