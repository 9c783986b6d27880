// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "report/table.h"
#include "unit/probe/report_support.h"

namespace titanium::probe {
namespace {

using testing::results_of;
using testing::step;

TableRow only_row(std::vector<Row> rows) {
  Tables tables = build_tables(results_of(std::move(rows)));
  EXPECT_EQ(tables.tables.size(), 1U);
  EXPECT_EQ(tables.tables.at(0).rows.size(), 1U);
  return tables.tables.at(0).rows.at(0);
}

Row with_memory(Row row, std::uint64_t bytes) {
  row.proxy_rss_peak_bytes = bytes;
  return row;
}

Row loaded_by(Row row, std::string_view generator) {
  row.generator = generator;
  return row;
}

TEST(BuildTables, MakesATablePerKindOfWorkloadWithRowsAndColumnsInTheirOrder) {
  const Tables tables = build_tables(results_of({
      step("nginx-b", "h1tls-h1c-body64k", "nginx", 1, 1),
      step("bare-relay", "h1c-h1c", "bare-relay", 1, 1),
      step("nginx-a", "h1tls-h1c", "nginx", 1, 1),
      step("nginx-c", "h1c-h1c", "nginx", 1, 1),
      step("twp-a", "h1c-h1c", "titanium", 1, 1),
  }));
  ASSERT_EQ(tables.tables.size(), 2U);
  const Table& tiny = tables.tables[0];
  EXPECT_EQ(tiny.products, (std::vector<std::string>{"titanium", "nginx", "bare-relay"}));
  ASSERT_EQ(tiny.rows.size(), 2U);
  EXPECT_EQ(tiny.rows[0].row_key, "h1c-h1c");
  EXPECT_EQ(tiny.rows[0].figures.size(), 3U);
  EXPECT_EQ(tiny.rows[1].row_key, "h1tls-h1c");
  EXPECT_EQ(tables.tables[1].rows[0].row_key, "h1tls-h1c-body64k");
  EXPECT_TRUE(tables.others.empty());
}

TEST(BuildTables, KeepsVariantsSecondArmsAndArmsWithoutKeyApart) {
  const Tables tables = build_tables(results_of({
      step("twp-reverse-http1", "h1c-h1c", "titanium", 1, 1),
      step("twp-mitm-http1", "h1c-h1c", "titanium", 1, 1),
      step("twp-cli-plus-waf-http1", "h1c-h1c", "titanium", 1, 1),
      step("twp-reverse-http1-again", "h1c-h1c", "titanium", 1, 1),
      step("yarp-reverse-http1", "", "", 1, 1),
  }));
  ASSERT_EQ(tables.tables.size(), 1U);
  EXPECT_EQ(tables.tables[0].rows[0].figures.size(), 1U);
  EXPECT_EQ(tables.others.size(), 4U);
}

TEST(Winner, IsTheFastestProductAndNeverAControl) {
  const TableRow row = only_row({
      step("bare-relay", "h1c-h1c", "bare-relay", 900, 1),
      step("nginx-a", "h1c-h1c", "nginx", 500, 1),
      step("twp-a", "h1c-h1c", "titanium", 600, 1),
  });
  ASSERT_NE(winner(row), nullptr);
  EXPECT_EQ(winner(row)->product, "titanium");
}

TEST(Winner, NeedsLessMemoryAndThenLessCpuAtATie) {
  EXPECT_EQ(winner(only_row({with_memory(step("a", "h1c-h1c", "nginx", 5, 1), 2000),
                             with_memory(step("b", "h1c-h1c", "haproxy", 5, 9), 1000)}))
                ->product,
            "haproxy");
  EXPECT_EQ(
      winner(only_row({step("a", "h1c-h1c", "nginx", 5, 8), step("b", "h1c-h1c", "haproxy", 5, 7)}))
          ->product,
      "haproxy");
}

TEST(Winner, IsNobodyWithoutASecondProductWithoutAnAnswerAndBetweenGenerators) {
  EXPECT_EQ(winner(only_row({step("bare-relay", "h1c-h1c", "bare-relay", 9, 1),
                             step("twp-a", "h1c-h1c", "titanium", 6, 1)})),
            nullptr);
  Row bad = step("a", "h1c-h1c", "nginx", 5, 1);
  bad.meets_slo = false;
  Row worse = step("b", "h1c-h1c", "haproxy", 4, 1);
  worse.meets_slo = false;
  EXPECT_EQ(winner(only_row({bad, worse})), nullptr);
  EXPECT_EQ(winner(only_row({step("a", "h1c-h1c", "nginx", 5, 1),
                             loaded_by(step("b", "h1c-h1c", "haproxy", 4, 1), "bombardier")})),
            nullptr);
}

TEST(Ratios, DivideByThePeerThatIsBestInThatFigure) {
  const TableRow row = only_row({
      step("bare-relay", "h1c-h1c", "bare-relay", 1200, 10),
      step("nginx-a", "h1c-h1c", "nginx", 500, 16),
      step("haproxy-a", "h1c-h1c", "haproxy", 550, 20),
      step("twp-a", "h1c-h1c", "titanium", 600, 12),
  });
  const auto rps = rps_ratio_to_best_peer(row);
  ASSERT_TRUE(rps.has_value());
  EXPECT_DOUBLE_EQ(rps->value, 600.0 / 550);
  EXPECT_EQ(rps->other->product, "haproxy");
  const auto cpu = cpu_ratio_to_best_peer(row);
  ASSERT_TRUE(cpu.has_value());
  EXPECT_DOUBLE_EQ(cpu->value, 0.75);
  EXPECT_EQ(cpu->other->product, "nginx");
  EXPECT_DOUBLE_EQ(rps_ratio(row, "bare-relay")->value, 0.5);
  EXPECT_DOUBLE_EQ(cpu_ratio(row, "bare-relay")->value, 1.2);
  EXPECT_FALSE(rps_ratio(row, "envoy").has_value());
}

TEST(Ratios, AreRefusedBetweenGeneratorsAndSayWhy) {
  const TableRow row = only_row({
      step("twp-a", "h1c-h1c", "titanium", 600, 12),
      loaded_by(step("nginx-a", "h1c-h1c", "nginx", 500, 16), "bombardier"),
  });
  EXPECT_FALSE(rps_ratio_to_best_peer(row).has_value());
  EXPECT_FALSE(cpu_ratio_to_best_peer(row).has_value());
  EXPECT_FALSE(rps_ratio(row, "nginx").has_value());
  EXPECT_EQ(refusal(row), "twp-a was loaded by titanium-load, nginx-a by bombardier");
}

TEST(Ratios, AreMissingWithoutFigures) {
  const TableRow alone = only_row({step("twp-a", "h1c-h1c", "titanium", 600, 12)});
  EXPECT_FALSE(rps_ratio_to_best_peer(alone).has_value());
  const TableRow no_cpu = only_row(
      {step("twp-a", "h1c-h1c", "titanium", 600, 0), step("nginx-a", "h1c-h1c", "nginx", 500, 0)});
  EXPECT_TRUE(rps_ratio_to_best_peer(no_cpu).has_value());
  EXPECT_FALSE(cpu_ratio_to_best_peer(no_cpu).has_value());
}

TEST(Refusal, DoesNotMindASecondGeneratorForTheOriginAlone) {
  EXPECT_EQ(refusal(only_row({step("twp-a", "h1c-h1c", "titanium", 600, 12),
                              loaded_by(step("origin-direct-x", "h1c-h1c", "origin-direct", 1, 1),
                                        "bombardier")})),
            "");
}

}  // namespace
}  // namespace titanium::probe
