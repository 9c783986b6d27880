// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "http1/head_parser.h"
#include "support/every_cut.h"

namespace titanium::http1 {
namespace {

std::vector<std::string> texts(const LineScanner& scanner, std::string_view buffer) {
  std::vector<std::string> lines;
  for (const auto& line : scanner.lines()) {
    lines.emplace_back(buffer.substr(line.begin, line.end - line.begin));
  }
  return lines;
}

TEST(LineScanner, FindsTheSameLinesAtEveryCut) {
  constexpr std::string_view kSection = "first\r\nsecond line, longer than a vector\r\nx\r\n\r\n";
  const std::string whole = std::string(kSection) + "\r\nbody\n";
  titanium::test::for_each_cut(whole, [&](std::string_view first, std::string_view /*second*/) {
    LineScanner scanner;
    const auto early =
        scanner.scan(titanium::test::ExactCopy(first).view(), {}, Side::client, false);
    EXPECT_EQ(early, first.size() >= kSection.size());
    EXPECT_EQ(scanner.scan(whole, {}, Side::client, false), true);
    EXPECT_EQ(scanner.size(), kSection.size());
    EXPECT_EQ(texts(scanner, whole),
              (std::vector<std::string>{"first", "second line, longer than a vector", "x"}));
  });
}

TEST(LineScanner, RefusesEachControlByteButTabAtEachPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_control = (byte < 0x20 && c != '\t') || byte == 0x7f;
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, 'a');
      text[at] = c;
      text += "\r\n\r\n";
      LineScanner scanner;
      EXPECT_EQ(scanner.scan(text, {}, Side::client, false).has_value(), !is_control)
          << byte << " at " << at;
    }
  }
}

TEST(LineScanner, RefusesLineEndsThatAreNotExact) {
  for (const std::string_view text :
       {"a\n", "a\n\r\n", "a\rb", "a\r\r\n", "a\r\n\n", "a\r\n\r\r\n", "\n", "a\r \n"}) {
    LineScanner scanner;
    EXPECT_FALSE(scanner.scan(text, {}, Side::client, false).has_value()) << text;
  }
}

TEST(LineScanner, EndsAnEmptySectionAtOnce) {
  LineScanner scanner;
  EXPECT_EQ(scanner.scan("\r\nx", {}, Side::client, false), true);
  EXPECT_EQ(scanner.size(), 2u);
  EXPECT_TRUE(scanner.lines().empty());
}

TEST(LineScanner, StartsAnewAfterReset) {
  LineScanner scanner;
  ASSERT_EQ(scanner.scan("a: b\r\n\r\n", {}, Side::client, false), true);
  scanner.reset();
  EXPECT_EQ(scanner.scan("c", {}, Side::client, false), false);
  EXPECT_EQ(scanner.scan("cd\r\n\r\n", {}, Side::client, false), true);
  EXPECT_EQ(texts(scanner, "cd\r\n\r\n"), std::vector<std::string>{"cd"});
}

TEST(LineScanner, LooksNoFurtherThanItsLimit) {
  // What is behind the limit may be anything: it belongs to nobody.
  const std::string text = std::string(64, 'a') + "\n";
  LineScanner scanner;
  const auto result =
      scanner.scan(text, {.line_bytes = 100, .head_bytes = 64}, Side::client, false);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::limit);
}

}  // namespace
}  // namespace titanium::http1
