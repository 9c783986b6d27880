// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/markdown.h"
#include "report/table.h"
#include "unit/probe/report_support.h"

namespace titanium::probe {
namespace {

using testing::contents_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::results_of;
using testing::step;
using testing::TemporaryFolder;

std::string markdown_of(const Results& results) {
  return render_markdown(results, build_tables(results));
}

Results four_products() {
  return results_of({
      step("origin-direct", "h1c-h1c", "origin-direct", 160'000, 5),
      step("bare-relay", "h1c-h1c", "bare-relay", 57'000, 11.5),
      step("nginx-reverse-http1", "h1c-h1c", "nginx", 53'012.4, 16.5),
      step("twp-reverse-http1", "h1c-h1c", "titanium", 58'300, 13.2),
  });
}

TEST(Markdown, HasTheCellsInWordsTheMedalAndTheRatios) {
  EXPECT_THAT(
      markdown_of(four_products()),
      HasSubstr("| Client | Origin | Titanium | nginx | bare-relay | ÷ best peer | CPU ÷ best peer "
                "| ÷ bare-relay | CPU ÷ bare-relay |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
                "| HTTP/1 · plain | HTTP/1 · plain "
                "| 🥇 **58,300** <sub>(13.2 µs · 12.0 MiB)</sub> "
                "| **53,012** <sub>(16.5 µs · 12.0 MiB)</sub> "
                "| **57,000** <sub>(11.5 µs · 12.0 MiB)</sub> "
                "| 1.10× | 0.80× | 1.02× | 1.15× |\n"));
}

TEST(Markdown, ShowsHowNearTheOriginIsToItsLimit) {
  const std::string text = markdown_of(four_products());
  EXPECT_THAT(text, HasSubstr("| `origin-direct` | titanium-load | **160,000** "));
  EXPECT_THAT(text, HasSubstr("| 36.4 % |"));
  EXPECT_THAT(text, HasSubstr("| 33.1 % |"));
}

TEST(Markdown, ShowsThePeakWhereNothingWasSustainedOrMuchLess) {
  Row bad = step("nginx-reverse-http1", "h1c-h1c", "nginx", 24'928, 16.5);
  bad.meets_slo = false;
  Results results = results_of({
      bad,
      step("twp-reverse-http1", "h1c-h1c", "titanium", 900, 10, 32),
      step("twp-reverse-http1", "h1c-h1c", "titanium", 700, 10, 64),
  });
  const std::string text = markdown_of(results);
  EXPECT_THAT(text, HasSubstr("**0** <sub>(peak 24,928 · 16.5 µs"));
  EXPECT_THAT(text, HasSubstr("🥇 **700** <sub>(peak 900 · 10.0 µs"));
}

TEST(Markdown, SaysWhyAFigureIsMissing) {
  Results results = results_of({
      step("nginx-a", "h1c-h1c", "nginx", 5, 1),
      step("haproxy-a", "h1c-h1c", "haproxy", 5, 1),
      step("twp-a", "h1c-h1c", "titanium", 5, 1),
      step("twp-b", "h1c-h2c", "titanium", 5, 1),
  });
  Environment environment;
  environment.absent = {
      {"nginx-b", "h1c-h2c", "nginx", "not possible", "no HTTP/2 | to origins"},
      {"envoy-a", "h1c-h1c", "envoy", "not installed", "no envoy on PATH"},
      {"envoy-b", "h1c-h2c", "envoy", "not installed", "no envoy on PATH"},
      {"yarp-x", "h3-h3", "yarp", "not installed", ""},
  };
  results.environments.push_back(environment);
  const std::string text = markdown_of(results);
  EXPECT_THAT(text, HasSubstr("| not possible (no HTTP/2 \\| to origins) | not measured |"));
  EXPECT_THAT(text, HasSubstr("Without a column: Envoy: not installed.\n"));
  EXPECT_THAT(text, Not(HasSubstr("YARP")));
}

TEST(Markdown, RefusesRatiosBetweenGeneratorsWithANote) {
  Row other = step("nginx-a", "h1c-h1c", "nginx", 5, 1);
  other.generator = "bombardier";
  const std::string text =
      markdown_of(results_of({other, step("twp-a", "h1c-h1c", "titanium", 9, 1)}));
  EXPECT_THAT(text, HasSubstr("No medal and no ratio between them in `h1c-h1c`: nginx-a was loaded "
                              "by bombardier, twp-a by titanium-load."));
  EXPECT_THAT(text, HasSubstr("| — | — |\n"));
  EXPECT_THAT(text, Not(HasSubstr("🥇 **")));
}

TEST(Markdown, ListsVersionsMachineCommandAndNotes) {
  Row row = step("nginx-a", "h1c-h1c", "nginx", 5, 1);
  row.product_version = "1.26.3";
  row.note = "first error: <reset>";
  Row short_step = row;
  short_step.duration_s = 0.304;
  Results results = results_of({row, short_step});
  results.warnings.emplace_back("x.csv: line 9: cut off");
  Environment environment;
  environment.products = {{"haproxy", "3.0.11", "USE_X"}};
  environment.machine = {{"cpu", "two cores"}};
  environment.command = "rps-load-probe --mode compare";
  results.environments.push_back(environment);
  const std::string text = markdown_of(results);
  EXPECT_THAT(text, HasSubstr("| HAProxy | 3.0.11 | USE_X |\n| nginx | 1.26.3 |  |\n"));
  EXPECT_THAT(text, HasSubstr("- cpu: two cores\n"));
  EXPECT_THAT(text, HasSubstr("- Measured per step: 0.3, 8 s\n"));
  EXPECT_THAT(text, HasSubstr("- Command: `rps-load-probe --mode compare`\n"));
  EXPECT_THAT(text, HasSubstr("- x.csv: line 9: cut off\n"));
  EXPECT_THAT(text, HasSubstr("repeat 1: first error: &lt;reset>\n"));
}

TEST(Markdown, HasATableForFixedRates) {
  Row row = step("twp-a", "h1c-h1c", "titanium", 4999, 1);
  row.rate = 5000;
  row.p99_ms = 2.345;
  EXPECT_THAT(
      markdown_of(results_of({row})),
      HasSubstr("| `twp-a` | h1c-h1c | 5,000 | 64 | 4,999 | 0.00 ms | 2.35 ms | 0.00 ms |"));
}

TEST(RunReport, WritesTheFilesThatItWasAskedFor) {
  const TemporaryFolder folder;
  const std::string csv = folder.write_rows("x.csv", four_products().rows);
  const ReportOptions options{
      .files = {csv}, .markdown_file = folder.path("x.md"), .svg_file = folder.path("x.svg")};
  EXPECT_EQ(run_report(options), 0);
  EXPECT_THAT(contents_of(options.markdown_file), HasSubstr("🥇 **58,300**"));
  EXPECT_THAT(contents_of(options.markdown_file), HasSubstr("- File: `" + csv + "`"));
  EXPECT_THAT(contents_of(options.svg_file), HasSubstr("<svg "));
}

TEST(RunReport, WritesMarkdownToStandardOutputIfNoFileIsNamed) {
  const TemporaryFolder folder;
  const std::string csv = folder.write_rows("x.csv", four_products().rows);
  ::testing::internal::CaptureStdout();
  const int code = run_report({.files = {csv}, .markdown_file = "", .svg_file = ""});
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("# Measurements\n"));
  EXPECT_EQ(code, 0);
}

TEST(RunReport, SaysWhatCanNotBeReadOrWritten) {
  const TemporaryFolder folder;
  const std::string csv = folder.write_rows("x.csv", four_products().rows);
  const auto run = [](const ReportOptions& options) {
    ::testing::internal::CaptureStderr();
    const int code = run_report(options);
    return std::pair(code, ::testing::internal::GetCapturedStderr());
  };
  EXPECT_EQ(run({.files = {}, .markdown_file = "", .svg_file = ""}),
            std::pair(2, std::string("rps-load-probe: report needs at least one result file\n")));
  const auto missing =
      run({.files = {folder.path("none.csv")}, .markdown_file = "", .svg_file = ""});
  EXPECT_EQ(missing.first, 2);
  EXPECT_THAT(missing.second, HasSubstr("none.csv: can not be read"));
  const auto full = run({.files = {csv}, .markdown_file = "/dev/full", .svg_file = ""});
  EXPECT_EQ(full.first, 1);
  EXPECT_THAT(full.second, HasSubstr("/dev/full can not be written"));
  const auto nowhere = run({.files = {csv},
                            .markdown_file = folder.path("x.md"),
                            .svg_file = folder.path("no/such/folder.svg")});
  EXPECT_EQ(nowhere.first, 1);
}

}  // namespace
}  // namespace titanium::probe
