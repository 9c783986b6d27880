// SPDX-License-Identifier: MIT
#include "config/diagnostic.h"

#include <gtest/gtest.h>

#include <array>

namespace titanium::config {
namespace {

TEST(FormatDiagnostic, HasFileLineColumnSeverityKeyMessageAndHint) {
  EXPECT_EQ(format_diagnostic({.severity = Severity::error,
                               .file = "twp.yaml",
                               .position = {12, 5},
                               .path = "listeners[0].port",
                               .message = "70000 is out of range (0 to 65535)",
                               .hint = ""}),
            "twp.yaml:12:5: error: listeners[0].port: 70000 is out of range (0 to 65535)");
  EXPECT_EQ(format_diagnostic({.severity = Severity::warning,
                               .file = "twp.yaml",
                               .position = {1, 1},
                               .path = "",
                               .message = "unknown key 'x' is ignored",
                               .hint = "did you mean 'y'?"}),
            "twp.yaml:1:1: warning: unknown key 'x' is ignored; did you mean 'y'?");
}

TEST(FormatDiagnostic, LeavesOutAPlaceThatIsNotKnown) {
  EXPECT_EQ(format_diagnostic({.severity = Severity::error,
                               .file = "a.yaml",
                               .position = {},
                               .path = "",
                               .message = "is larger than 8 MiB",
                               .hint = ""}),
            "a.yaml: error: is larger than 8 MiB");
}

TEST(Nearest, FindsWhatAMistypedWordMeans) {
  constexpr auto known = std::to_array<std::string_view>(
      {"forwardHost", "forwardPort", "port", "host", "id", "Random"});
  struct Case {
    std::string_view word;
    std::string_view meant;
  };
  const Case cases[] = {
      {"forwardhost", "forwardHost"},   // case only
      {"forwrdHost", "forwardHost"},    // a letter is missing
      {"forwardHosst", "forwardHost"},  // a letter too many
      {"fowrardHost", "forwardHost"},   // two letters swapped
      {"forwardXort", "forwardPort"},   // one letter instead of another: nearer than forwardHost
      {"prot", "port"},                 // swapped
      {"hosst", "host"},                // nearer than "port"
      {"fwdHost", ""},                  // four letters are missing
      {"xy", ""},                       // everything differs: "id" is not similar
      {"idx", "id"},
      {"", ""},
      {"RANDM", "Random"},
  };
  for (const Case& c : cases) EXPECT_EQ(nearest(c.word, known), c.meant) << c.word;
  EXPECT_EQ(nearest("host", {}), "");
}

TEST(Nearest, PrefersTheSameWordInAnotherCaseToASimilarOne) {
  constexpr auto known = std::to_array<std::string_view>({"ports", "PORT"});
  EXPECT_EQ(nearest("port", known), "PORT");
}

TEST(InQuotes, CutsLongTextsAndKeepsControlBytesFromTheTerminal) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes("\x1b[31m\r\n\x7f"),
            "'?[31m??"
            "?'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(in_quotes("caf\xc3\xa9"), "'caf\xc3\xa9'");
}

}  // namespace
}  // namespace titanium::config
