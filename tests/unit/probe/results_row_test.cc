// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "results/row.h"

namespace titanium::probe {
namespace {

// The header of the original's files, word for word.
constexpr std::string_view kOriginalHeader =
    "timestamp_utc,arm,generator,concurrency,duration_s,ok,errors,rps,error_rate_pct,p50_ms,p99_ms,"
    "max_ms,meets_slo,nginx_version,haproxy_version,envoy_version,yarp_version,http_versions,"
    "max_cached_connections,method,response_bytes,request_bytes,delay_ms,loss_percent,keepalive,"
    "proxy_rss_peak_bytes,proxy_cpu_avg_pct";

constexpr std::string_view kOriginalLine =
    "2026-08-27T10:00:00Z,twp-reverse-http1,dotnet-httpclient,64,8.01,293376,0,36672.5,0,1.7,3.9,"
    "12.4,1,1.31.4,3.2.23,1.36.7,2.3.0,1.1,,GET,56,0,0,0,1,98566144,50.5";

std::string file_of(std::string_view header, std::initializer_list<std::string_view> lines) {
  std::string text(header);
  text += '\n';
  for (const std::string_view line : lines) (text += line) += '\n';
  return text;
}

Row sample() {
  Row row;
  row.timestamp_utc = "2026-11-30T22:00:00Z";
  row.arm = "twp-reverse-http1";
  row.generator = "titanium-load";
  row.concurrency = 64;
  row.duration_s = 8.0125;
  row.ok = 1'234'567'890'123;
  row.errors = 2;
  row.rps = 57'123.25;
  row.error_rate_pct = 0.0001;
  row.p50_ms = 0.9;
  row.p99_ms = 2.75;
  row.max_ms = 31;
  row.meets_slo = true;
  row.nginx_version = "1.26.3";
  row.http_versions = "h1c>h1c";
  row.max_cached_connections = "64";
  row.method = "GET";
  row.response_bytes = 56;
  row.request_bytes = 1;
  row.delay_ms = 5;
  row.loss_percent = 1.5;
  row.keepalive = false;
  row.proxy_rss_peak_bytes = 12'345'678;
  row.proxy_cpu_avg_pct = 47.25;
  row.row_key = "h1c-h1c";
  row.product = "titanium";
  row.product_version = "0.1.0";
  row.repeat = 3;
  row.cpu_us_per_request = 12.375;
  row.cpu_user_us_per_request = 4.5;
  row.voluntary_ctx_per_request = 0.03;
  row.rate = 10'000;
  return row;
}

Row round_trip(const Row& row) {
  const auto rows = read_csv(std::string(csv_header()) + "\n" + to_csv(row) + "\n");
  EXPECT_TRUE(rows.has_value()) << rows.error();
  EXPECT_EQ(rows->size(), 1U);
  return rows->at(0);
}

TEST(CsvHeader, BeginsWithTheColumnsOfTheOriginalInTheirOrder) {
  EXPECT_TRUE(csv_header().starts_with(std::string(kOriginalHeader) + ",row_key,")) << csv_header();
}

TEST(ToCsv, ReadsBackAsTheSameRow) {
  // The line has every column: rows are equal if their lines are.
  EXPECT_EQ(to_csv(round_trip(sample())), to_csv(sample()));
  const Row back = round_trip(sample());
  EXPECT_EQ(back.ok, 1'234'567'890'123U);
  EXPECT_EQ(back.rps, 57'123.25);
  EXPECT_TRUE(back.meets_slo);
  EXPECT_FALSE(back.keepalive);
  EXPECT_EQ(back.repeat, 3U);
  EXPECT_EQ(back.product, "titanium");
}

TEST(ToCsv, QuotesWhatWouldOtherwiseBreakTheLine) {
  for (const std::string_view note :
       {"a, b", "said \"no\"", "\"", "\"\"", "two\nlines", "two\r\nlines", "\n", ",", " blanks "}) {
    SCOPED_TRACE(std::string(note));
    Row row = sample();
    row.note = note;
    EXPECT_EQ(round_trip(row).note, note);
  }
}

TEST(ToCsv, WritesNumbersWithoutExponentAndLeavesOutWhatIsNone) {
  Row row = sample();
  row.rps = 1e7;
  row.loss_percent = 0.00001;
  row.cpu_us_per_request = std::numeric_limits<double>::quiet_NaN();
  const std::string line = to_csv(row);
  EXPECT_TRUE(line.contains(",10000000,")) << line;
  EXPECT_TRUE(line.contains(",0.00001,")) << line;
  EXPECT_FALSE(line.contains("nan")) << line;
  EXPECT_EQ(round_trip(row).cpu_us_per_request, 0);
}

TEST(ReadCsv, ReadsFilesOfTheOriginalWhichLackOurColumns) {
  const auto rows = read_csv(file_of(kOriginalHeader, {kOriginalLine}));
  ASSERT_TRUE(rows.has_value()) << rows.error();
  ASSERT_EQ(rows->size(), 1U);
  const Row& row = rows->front();
  EXPECT_EQ(row.arm, "twp-reverse-http1");
  EXPECT_EQ(row.rps, 36'672.5);
  EXPECT_EQ(row.proxy_cpu_avg_pct, 50.5);
  EXPECT_EQ(row.max_cached_connections, "");
  EXPECT_EQ(row.row_key, "");
  EXPECT_EQ(row.repeat, 1U);
}

TEST(ReadCsv, TakesByteOrderMarkCarriageReturnsBlankLinesAndForeignColumns) {
  const std::string text = "\xef\xbb\xbf" + std::string(kOriginalHeader) + ",unheard_of\r\n" +
                           std::string(kOriginalLine) + ",\"x, y\"\r\n\r\n";
  const auto rows = read_csv(text);
  ASSERT_TRUE(rows.has_value()) << rows.error();
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().proxy_cpu_avg_pct, 50.5);
}

TEST(ReadCsv, FindsColumnsByNameWhateverTheirOrder) {
  const std::string line(kOriginalLine);
  const auto rows =
      read_csv(file_of("note," + std::string(kOriginalHeader), {"first error," + line}));
  ASSERT_TRUE(rows.has_value()) << rows.error();
  EXPECT_EQ(rows->front().note, "first error");
  EXPECT_EQ(rows->front().concurrency, 64U);
}

TEST(ReadCsv, LeavesOutALastLineThatIsCutOffAnywhereAndSaysSo) {
  Row row = sample();
  row.note = "a, b";
  const std::string whole = std::string(csv_header()) + "\n" + to_csv(sample()) + "\n";
  const std::string last = to_csv(row);
  // Cut within the note, the line can not be told from a whole one: it may stay.
  const std::size_t note_begin = last.rfind(",\"");
  for (std::size_t cut = 1; cut <= note_begin; ++cut) {
    SCOPED_TRACE(cut);
    std::string warning;
    const auto rows = read_csv(whole + last.substr(0, cut), &warning);
    ASSERT_TRUE(rows.has_value()) << rows.error();
    EXPECT_EQ(rows->size(), 1U);
    EXPECT_EQ(warning, "line 3: cut off, and left out; the run was interrupted");
  }
  std::string warning;
  const auto rows = read_csv(whole + last.substr(0, last.size() - 2), &warning);
  ASSERT_TRUE(rows.has_value()) << rows.error();
  EXPECT_EQ(rows->size(), 1U);
  EXPECT_FALSE(warning.empty());
}

TEST(ReadCsv, TakesALastLineThatOnlyLacksItsLineEnd) {
  std::string warning;
  const auto rows = read_csv(std::string(csv_header()) + "\n" + to_csv(sample()), &warning);
  ASSERT_TRUE(rows.has_value()) << rows.error();
  EXPECT_EQ(rows->size(), 1U);
  EXPECT_EQ(warning, "");
}

struct Refused {
  std::string_view name;
  std::string text;
  std::string_view error;
};

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string all(text);
  return all.replace(all.find(what), what.size(), by);
}

TEST(ReadCsv, SaysLineAndColumnOfWhatItRefuses) {
  const std::string header(kOriginalHeader);
  const std::string line(kOriginalLine);
  const Refused cases[] = {
      {"nothing at all", "", "line 1: the header is missing"},
      {"a column is missing", replaced(header, ",rps,", ",") + "\n",
       "line 1: column rps is missing"},
      {"a column twice", header + ",arm\n", "line 1: column arm is there twice"},
      {"a word for a number", file_of(header, {line, replaced(line, ",64,", ",many,")}),
       "line 3: column concurrency: 'many' is not a value of it"},
      {"a negative count", file_of(header, {replaced(line, ",293376,", ",-1,")}),
       "line 2: column ok: '-1' is not a value of it"},
      {"a number with text after it", file_of(header, {replaced(line, ",36672.5,", ",36672.5x,")}),
       "line 2: column rps: '36672.5x' is not a value of it"},
      {"not a number", file_of(header, {replaced(line, ",36672.5,", ",nan,")}),
       "line 2: column rps: 'nan' is not a value of it"},
      {"a count beyond 64 bits",
       file_of(header, {replaced(line, ",293376,", ",99999999999999999999,")}),
       "line 2: column ok: '99999999999999999999' is not a value of it"},
      {"yes for 1", file_of(header, {replaced(line, ",1,1.31.4,", ",yes,1.31.4,")}),
       "line 2: column meets_slo: 'yes' is not a value of it"},
      {"a field too few", file_of(header, {replaced(line, ",50.5", "")}),
       "line 2: 26 fields where the header has 27"},
      {"a field too many", file_of(header, {line + ",7"}),
       "line 2: 28 fields where the header has 27"},
      {"text after a closing quote", file_of(header, {replaced(line, "GET", "\"G\"ET"), line}),
       "line 2: column method: text after a closing quote"},
      {"a quote in the middle", file_of(header, {replaced(line, "GET", "G\"ET"), line}),
       "line 2: column method: a quote within a field that does not begin with one"},
      {"a quote that swallows the rest", file_of(header, {replaced(line, "GET", "\"GET"), line}),
       "line 2: column method: a quote that is never closed"},
  };
  for (const Refused& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto rows = read_csv(c.text);
    ASSERT_FALSE(rows.has_value());
    EXPECT_EQ(rows.error(), c.error);
  }
}

TEST(ReadCsv, CountsLinesWithinQuotesToo) {
  const auto rows =
      read_csv(file_of(kOriginalHeader, {replaced(kOriginalLine, "GET", "\"G\nE\nT\""), "short"}));
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error(), "line 5: 1 fields where the header has 27");
}

}  // namespace
}  // namespace titanium::probe
