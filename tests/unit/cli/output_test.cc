// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace titanium::cli {
namespace {

using config::Diagnostic;
using config::Severity;

// `count` problems, numbered on from what is there.
void add(std::vector<Diagnostic>& all, Severity severity, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({.severity = severity,
                   .file = "twp.yaml",
                   .message = "number " + std::to_string(all.size() + 1)});
  }
}

[[nodiscard]] std::string printed(const std::vector<Diagnostic>& all) {
  testing::internal::CaptureStderr();
  print_diagnostics(all);
  return testing::internal::GetCapturedStderr();
}

TEST(PrintDiagnostics, PrintsUpToAHundredInTheirOrder) {
  std::vector<Diagnostic> all;
  add(all, Severity::warning, 60);
  add(all, Severity::error, 40);
  const std::string text = printed(all);
  EXPECT_EQ(std::ranges::count(text, '\n'), 100);
  EXPECT_TRUE(text.starts_with("twp.yaml: warning: number 1\n"));
  EXPECT_TRUE(text.ends_with("twp.yaml: error: number 100\n"));
}

TEST(PrintDiagnostics, CountsWhatIsBeyondAHundred) {
  std::vector<Diagnostic> all;
  add(all, Severity::error, 1234);
  const std::string text = printed(all);
  EXPECT_EQ(std::ranges::count(text, '\n'), 101);
  EXPECT_TRUE(text.contains("number 100\n"));
  EXPECT_TRUE(text.ends_with("... and 1134 more\n"));
}

TEST(PrintDiagnostics, DoesNotHideAnErrorBehindWarnings) {
  std::vector<Diagnostic> all;
  add(all, Severity::warning, 150);
  add(all, Severity::error, 2);
  const std::string text = printed(all);
  EXPECT_EQ(std::ranges::count(text, '\n'), 101);
  EXPECT_TRUE(text.contains("warning: number 98\n"));
  EXPECT_FALSE(text.contains("number 99\n"));
  EXPECT_TRUE(text.ends_with("error: number 151\ntwp.yaml: error: number 152\n... and 52 more\n"))
      << text;
}

}  // namespace
}  // namespace titanium::cli
