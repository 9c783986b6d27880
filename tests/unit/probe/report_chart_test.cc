// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "report/chart.h"
#include "unit/probe/report_support.h"

namespace titanium::probe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::results_of;
using testing::step;

// Whether a text is well-formed XML, as far as the chart uses it: one root, elements that are
// closed in order, attributes in quotes and not twice, the five entities, no stray `<` or `&`.
class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : rest_(text) {}

  // Empty: well-formed. Else what is wrong, and where.
  [[nodiscard]] std::string run() {
    if (rest_.starts_with("<?xml ")) rest_.remove_prefix(rest_.find("?>") + 2);
    while (!rest_.empty() && problem_.empty()) {
      rest_.front() == '<' ? tag() : characters();
    }
    if (problem_.empty() && (!open_.empty() || roots_ != 1)) problem_ = "not one closed root";
    return problem_.empty() ? "" : problem_ + " before: " + std::string(rest_.substr(0, 60));
  }

 private:
  void fail(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
  }

  void characters() {
    const std::string_view text = rest_.substr(0, rest_.find('<'));
    if (open_.empty() &&
        !std::ranges::all_of(text, [](unsigned char c) { return std::isspace(c); }))
      fail("text outside the root");
    check_entities(text);
    rest_.remove_prefix(text.size());
  }

  void check_entities(std::string_view text) {
    constexpr std::array<std::string_view, 5> kEntities = {"&amp;", "&lt;", "&gt;", "&quot;",
                                                           "&apos;"};
    for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
      if (std::ranges::none_of(kEntities,
                               [&](auto entity) { return text.substr(at).starts_with(entity); })) {
        fail("stray &");
      }
    }
    if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 && c != '\n'; })) {
      fail("control character");
    }
  }

  [[nodiscard]] std::string name() {
    std::size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 ||
                                     rest_[length] == '-' || rest_[length] == ':')) {
      ++length;
    }
    std::string word(rest_.substr(0, length));
    if (word.empty()) fail("a name is missing");
    rest_.remove_prefix(length);
    return word;
  }

  [[nodiscard]] bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  void tag() {
    rest_.remove_prefix(1);
    if (skip("/")) {
      if (open_.empty() || open_.back() != name()) return fail("closed out of order");
      open_.pop_back();
      if (!skip(">")) fail("'>' is missing");
      return;
    }
    const std::string element = name();
    if (open_.empty()) ++roots_;
    std::vector<std::string> attributes;
    while (problem_.empty() && skip(" ")) {
      attributes.push_back(name());
      if (std::ranges::count(attributes, attributes.back()) > 1) fail("attribute twice");
      if (!skip("=\"")) return fail("an attribute without value");
      const std::string_view value = rest_.substr(0, rest_.find('"'));
      if (value.contains('<')) fail("stray <");
      check_entities(value);
      rest_.remove_prefix(value.size());
      if (!skip("\"")) return fail("an attribute that is never closed");
    }
    if (skip("/>")) return;
    if (!skip(">")) return fail("'>' is missing");
    open_.push_back(element);
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  int roots_ = 0;
  std::string problem_;
};

std::string chart_of(std::vector<Row> rows) {
  return render_chart(build_tables(results_of(std::move(rows))));
}

TEST(XmlCheck, NoticesWhatIsNotWellFormed) {
  EXPECT_EQ(XmlCheck("<a><b c=\"1\"/>x&amp;y</a>\n").run(), "");
  for (const std::string_view text :
       {"", "<a>", "<a></b>", "<a/><a/>", "<a b=\"1\" b=\"2\"/>", "<a b=1/>", "<a>&x;</a>",
        "<a>&</a>", "x<a/>", "<a b=\"<\"/>", "<a b=\"1/>"}) {
    EXPECT_NE(XmlCheck(text).run(), "") << text;
  }
}

TEST(Chart, IsWellFormedWithBarsAsLongAsTheirFigures) {
  const std::string svg = chart_of({
      step("nginx-a", "h1c-h1c", "nginx", 5, 20),
      step("bare-relay", "h1c-h1c", "bare-relay", 5, 5),
      step("twp-a", "h1c-h1c", "titanium", 5, 10),
      step("twp-b", "h1tls-h1c-body256k", "titanium", 5, 200),
      step("origin-direct", "h1c-h1c", "origin-direct", 5, 3),
  });
  EXPECT_EQ(XmlCheck(svg).run(), "");
  // 20 µs fill the panel: its four lines stand 5 µs apart.
  EXPECT_THAT(svg, HasSubstr("class=\"peer\" x=\"170\" y=\"74.0\" width=\"590.0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"own\" x=\"170\" y=\"56.0\" width=\"295.0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"control\""));
  EXPECT_THAT(svg, HasSubstr("HTTP/1 · TLS → HTTP/1 · plain, 256 KiB"));
  EXPECT_THAT(svg, Not(HasSubstr("origin-direct")));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(Chart, EscapesWhatComesFromTheFile) {
  const std::string svg = chart_of({step("a", "h1c-h1c-<x>&\"\x01", "ngin<x", 5, 20)});
  EXPECT_EQ(XmlCheck(svg).run(), "");
  EXPECT_THAT(svg, HasSubstr("ngin&lt;x"));
}

TEST(Chart, IsAnImageWithoutFiguresToo) {
  const std::string svg = chart_of({step("nginx-a", "h1c-h1c", "nginx", 5, 0)});
  EXPECT_EQ(XmlCheck(svg).run(), "");
  EXPECT_THAT(svg, HasSubstr("No CPU times"));
}

}  // namespace
}  // namespace titanium::probe
