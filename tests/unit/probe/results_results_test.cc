// SPDX-License-Identifier: MIT
#include "results/results.h"

#include <gtest/gtest.h>

#include "unit/probe/report_support.h"

namespace titanium::probe {
namespace {

using testing::results_of;
using testing::step;
using testing::TemporaryFolder;

Row failing(Row row) {
  row.meets_slo = false;
  return row;
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 6}), 5);
}

TEST(Summarise, TakesTheHighestStepThatMetItsLimitsAndTheMedianOverRepeats) {
  const Results results = results_of({
      step("a", "k", "nginx", 100, 10, 8, 1),
      step("a", "k", "nginx", 300, 12, 64, 1),
      // Repeat 2 fails at 64: the step before counts, though a lower one was faster.
      step("a", "k", "nginx", 250, 11, 8, 2),
      step("a", "k", "nginx", 200, 14, 32, 2),
      failing(step("a", "k", "nginx", 900, 99, 64, 2)),
      step("a", "k", "nginx", 400, 16, 64, 3),
  });
  const auto figures = summarise(results.rows);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].sustain_rps, 300);
  EXPECT_EQ(figures[0].peak_rps, 400);
  EXPECT_EQ(figures[0].cpu_us_per_request, 14);
  EXPECT_EQ(figures[0].repeats, 3U);
}

TEST(Summarise, SustainsNothingIfNoStepMetItsLimitsAndTakesTheCostsOfThePeak) {
  const Results results = results_of({
      failing(step("a", "k", "nginx", 100, 10, 8)),
      failing(step("a", "k", "nginx", 700, 30, 32)),
      failing(step("a", "k", "nginx", 300, 20, 64)),
  });
  const auto figures = summarise(results.rows);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].sustain_rps, 0);
  EXPECT_EQ(figures[0].peak_rps, 700);
  EXPECT_EQ(figures[0].cpu_us_per_request, 30);
}

TEST(Summarise, CountsARepeatInWhichNothingWasSustainedAsZero) {
  const Results results = results_of({
      step("a", "k", "nginx", 500, 10, 64, 1),
      failing(step("a", "k", "nginx", 500, 10, 64, 2)),
      failing(step("a", "k", "nginx", 500, 10, 64, 3)),
  });
  EXPECT_EQ(summarise(results.rows)[0].sustain_rps, 0);
}

TEST(Summarise, LeavesOutFixedRatesAndKeepsTheOrderOfArms) {
  Row fixed = step("b", "k", "nginx", 1000, 10);
  fixed.rate = 1000;
  const Results results =
      results_of({fixed, step("z", "k", "nginx", 1, 1), step("a", "k", "haproxy", 2, 1),
                  step("z", "other", "nginx", 3, 1)});
  const auto figures = summarise(results.rows);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0].arm, "z");
  EXPECT_EQ(figures[1].arm, "a");
  EXPECT_EQ(figures[2].row_key, "other");
}

TEST(Summarise, NamesAllGeneratorsOfAnArm) {
  Row other = step("a", "k", "nginx", 1, 1, 64, 2);
  other.generator = "load";  // Part of the other's name, and another one nevertheless.
  const Results results = results_of({step("a", "k", "nginx", 1, 1), other});
  EXPECT_EQ(summarise(results.rows)[0].generator, "titanium-load + load");
}

TEST(FigureAt, LooksAtOneConcurrencyAndPrefersStepsThatMetTheirLimits) {
  const Results results = results_of({
      step("a", "k", "nginx", 900, 9, 32, 1),
      step("a", "k", "nginx", 300, 10, 64, 1),
      step("a", "k", "nginx", 500, 20, 64, 2),
      failing(step("a", "k", "nginx", 50, 70, 64, 3)),
  });
  const auto figure = figure_at(results.rows, "a", "k", 64);
  ASSERT_TRUE(figure.has_value());
  EXPECT_EQ(figure->sustain_rps, 400);
  EXPECT_EQ(figure->peak_rps, 300);
  EXPECT_EQ(figure->cpu_us_per_request, 15);
  EXPECT_FALSE(figure_at(results.rows, "a", "k", 128).has_value());
  EXPECT_FALSE(figure_at(results.rows, "a", "other", 64).has_value());
}

TEST(AddRows, TellsTheProductFromTheArmInFilesThatDoNotSayIt) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"twp-reverse-http1", "titanium"},
      {"nginx-reverse-http1", "nginx"},
      {"haproxy-reverse-http2", "haproxy"},
      {"origin-direct", "origin-direct"},
      {"bare-reverse-http1-tls", "bare-reverse-http1"},
      {"bare-relay", "bare-relay"},
  };
  for (const auto& [arm, product] : cases) {
    EXPECT_EQ(results_of({step(arm, "", "", 1, 1)}).rows[0].product, product);
  }
}

TEST(LoadResults, ReadsSeveralFilesAsFurtherRepeatsAndWhatLiesBesideThem) {
  const TemporaryFolder folder;
  const std::string first = folder.write_rows(
      "one.csv", {step("a", "k", "nginx", 100, 1, 64, 1), step("a", "k", "nginx", 200, 1, 64, 2)});
  const std::string second = folder.write_rows("two.csv", {step("a", "k", "nginx", 600, 1, 64, 1)});
  (void)folder.write("one-environment.json",
                     R"({"arms":[{"arm":"envoy-x","row_key":"k","product":"envoy",
                         "status":"not installed","reason":""}],
                         "products":[{"name":"nginx","version":"1.26.3","flags":"--with-x"}],
                         "machine":{"cpu":"a cpu","cores":2},"command":"rps-load-probe --ramp"})");
  const auto results = load_results({first, second});
  ASSERT_TRUE(results.has_value()) << results.error();
  const auto figures = summarise(results->rows);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].repeats, 3U);
  EXPECT_EQ(figures[0].sustain_rps, 200);
  ASSERT_EQ(results->environments.size(), 1U);
  EXPECT_EQ(results->environments[0].absent[0].product, "envoy");
  EXPECT_EQ(results->environments[0].products[0].version, "1.26.3");
  EXPECT_EQ(results->environments[0].machine[1].second, "2");
  EXPECT_EQ(results->environments[0].command, "rps-load-probe --ramp");
}

TEST(LoadResults, NamesTheFileThatCanNotBeRead) {
  const TemporaryFolder folder;
  const auto missing = load_results({folder.path("missing.csv")});
  ASSERT_FALSE(missing.has_value());
  EXPECT_TRUE(missing.error().ends_with("missing.csv: can not be read")) << missing.error();
  const auto broken = load_results({folder.write("broken.csv", "arm\n")});
  ASSERT_FALSE(broken.has_value());
  EXPECT_TRUE(broken.error().contains("broken.csv: line 1: column ")) << broken.error();
}

TEST(LoadResults, WarnsOfAnInterruptedRunAndOfADamagedEnvironment) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("x.csv", std::string(csv_header()) + "\n" +
                                to_csv(step("a", "k", "nginx", 1, 1)) + "\n2026-");
  (void)folder.write("x-environment.json", "{");
  const auto results = load_results({file});
  ASSERT_TRUE(results.has_value()) << results.error();
  EXPECT_EQ(results->rows.size(), 1U);
  ASSERT_EQ(results->warnings.size(), 2U);
  EXPECT_TRUE(results->warnings[0].contains("x.csv: line 3: cut off"));
  EXPECT_TRUE(results->warnings[1].contains("x-environment.json: is not a JSON object"));
}

TEST(ParseEnvironment, IgnoresWhatHasAnotherShape) {
  for (const std::string_view text :
       {"{}", R"({"arms":7,"products":{},"machine":[],"command":null})",
        R"({"arms":[1,{"arm":"x"}],"products":["nginx"],"machine":null})"}) {
    SCOPED_TRACE(std::string(text));
    const auto environment = parse_environment(text);
    ASSERT_TRUE(environment.has_value());
    EXPECT_TRUE(environment->absent.empty());
    EXPECT_TRUE(environment->products.empty());
    EXPECT_TRUE(environment->machine.empty());
  }
  EXPECT_FALSE(parse_environment("").has_value());
  EXPECT_FALSE(parse_environment("[]").has_value());
  // Bytes that are no UTF-8 do no harm.
  EXPECT_FALSE(parse_environment("{\"command\":\"\xff\"}").has_value());
}

}  // namespace
}  // namespace titanium::probe
