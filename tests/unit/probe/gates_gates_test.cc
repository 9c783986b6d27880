// SPDX-License-Identifier: MIT
#include "report/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/verdict.h"
#include "unit/probe/report_support.h"

namespace titanium::probe {
namespace {

using ::testing::HasSubstr;
using testing::results_of;
using testing::step;
using testing::TemporaryFolder;
using Kind = Verdict::Kind;

const Target& target(std::string_view begin_of_name) {
  const auto* const found = std::ranges::find_if(
      kTargets, [&](const Target& t) { return t.name.starts_with(begin_of_name); });
  EXPECT_NE(found, kTargets.end()) << begin_of_name;
  return *found;
}

Verdict verdict_of(const Target& target, std::string_view row, const Results& results) {
  for (const Verdict& verdict : judge(target, results)) {
    if (verdict.row == row) return verdict;
  }
  ADD_FAILURE() << "no verdict on " << row;
  return {};
}

Row missed(Row row) {
  row.meets_slo = false;
  return row;
}

// Titanium with 10 µs and 1100 requests/s beside a peer.
Results beside(std::string_view row_key, double peer_cpu_us, double peer_rps) {
  return results_of({step("twp-a", row_key, "titanium", 1100, 10),
                     step("nginx-a", row_key, "nginx", peer_rps, peer_cpu_us)});
}

TEST(Targets, OfGrpcAreAboutHaproxy) {
  const auto with = [](double haproxy_rps) {
    return results_of({step("twp-a", "h2tls-h2c-grpc-h2c", "titanium", 1500, 10),
                       step("nghttpx-a", "h2tls-h2c-grpc-h2c", "nghttpx", 3000, 10),
                       step("haproxy-a", "h2tls-h2c-grpc-h2c", "haproxy", haproxy_rps, 10)});
  };
  EXPECT_EQ(verdict_of(target("gRPC"), "h2tls-h2c-grpc-h2c", with(1000)).kind, Kind::pass);
  EXPECT_EQ(verdict_of(target("gRPC"), "h2tls-h2c-grpc-h2c", with(1001)).kind, Kind::falls_short);
  EXPECT_EQ(verdict_of(target("gRPC"), "h2tls-h2tls-grpc", with(1)).kind, Kind::not_measured);
}

TEST(Targets, OfEarlyAnswersAllowNoError) {
  for (const char* key : {"h2tls-h2tls-early64k", "h2tls-h2tls-duplex-h2", "h1tls-h1c-early64k"}) {
    Row row = step("twp-a", key, "titanium", 1100, 10);
    const Target& early = target("Early answers");
    EXPECT_EQ(verdict_of(early, key, results_of({row})).kind, Kind::pass);
    row.errors = 1;  // Few enough for the limits of a step.
    const Verdict verdict = verdict_of(early, key, results_of({row}));
    EXPECT_EQ(verdict.kind, Kind::falls_short);
    EXPECT_EQ(verdict.text, "twp-a 1 errors = 1.00 (≤ 0)");
  }
}

TEST(Targets, AreMetExactlyAtTheirLimitAndMissedBeyond) {
  struct Case {
    std::string_view target;
    std::string_view row;
    double peer_cpu_us;
    double peer_rps;
    Kind kind;
  };
  const Case cases[] = {
      {"Every cell: CPU", "h1c-h1c", 13.4, 1, Kind::pass},
      {"Every cell: CPU", "h1c-h1c", 13.3, 1, Kind::falls_short},
      {"Every cell: CPU", "h2tls-h3", 13.3, 1, Kind::falls_short},
      {"HTTP/1 cells with TLS", "h1tls-h1c", 12.5, 1, Kind::pass},
      {"HTTP/1 cells with TLS", "h1tls-h1c", 12.4, 1, Kind::falls_short},
      {"HTTP/1 to HTTP/1: requests/s", "h1c-h1c", 1, 999, Kind::pass},
      {"HTTP/1 to HTTP/1: requests/s", "h1c-h1c", 1, 1001, Kind::falls_short},
      {"Every other cell: requests/s", "h1tls-h1tls", 1, 880, Kind::pass},
      {"Every other cell: requests/s", "h1tls-h1tls", 1, 881, Kind::falls_short},
      {"64 KiB bodies", "h1tls-h1c-body64k", 1, 916, Kind::pass},
      {"64 KiB bodies", "h1tls-h1c-body64k", 1, 917, Kind::falls_short},
      {"64 KiB bodies", "h2tls-h2tls-body64k", 1, 917, Kind::falls_short},
      {"256 KiB bodies", "h1c-h1c-body256k", 1, 917, Kind::falls_short},
      {"POST 64 KiB", "h1c-h1c-post64k", 1, 916, Kind::pass},
      {"New TLS connections/s", "h1tls-h1c-nc-tiny", 1, 999, Kind::pass},
      {"New TLS connections/s", "h1tls-h1c-nc-tiny", 1, 1001, Kind::falls_short},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.target) + " " + std::string(c.row));
    const Verdict verdict =
        verdict_of(target(c.target), c.row, beside(c.row, c.peer_cpu_us, c.peer_rps));
    EXPECT_EQ(verdict.kind, c.kind) << verdict.text;
  }
}

TEST(Verdict, NamesBothArmsTheirFiguresAndTheDistance) {
  EXPECT_EQ(verdict_of(target("Every cell: CPU"), "h1c-h1c", beside("h1c-h1c", 10, 1)).text,
            "twp-a 10.0 µs / nginx-a 10.0 µs = 1.00 (≤ 0.75: 33.3 % too much)");
  EXPECT_EQ(verdict_of(target("HTTP/1 to HTTP/1: req"), "h1c-h1c", beside("h1c-h1c", 1, 1100)).text,
            "twp-a 1100/s / nginx-a 1100/s = 1.00 (≥ 1.1: 9.1 % too little)");
  EXPECT_EQ(verdict_of(target("HTTP/1 to HTTP/1: req"), "h1c-h1c", beside("h1c-h1c", 1, 550)).text,
            "twp-a 1100/s / nginx-a 550/s = 2.00 (≥ 1.1)");
}

TEST(Verdict, TakesTheMedianOfTheRepeatsAtSixtyFour) {
  const Results results = results_of({
      step("twp-a", "h1c-h1c", "titanium", 9000, 1, 32, 1),
      step("twp-a", "h1c-h1c", "titanium", 1000, 10, 64, 1),
      step("twp-a", "h1c-h1c", "titanium", 1100, 12, 64, 2),
      step("twp-a", "h1c-h1c", "titanium", 5000, 90, 64, 3),
      step("nginx-a", "h1c-h1c", "nginx", 550, 24, 64, 1),
      step("haproxy-a", "h1c-h1c", "haproxy", 500, 30, 64, 1),
  });
  EXPECT_EQ(verdict_of(target("Every cell: CPU"), "h1c-h1c", results).text,
            "twp-a 12.0 µs / nginx-a 24.0 µs = 0.50 (≤ 0.75)");
}

TEST(Verdict, IsNotMeasuredWithoutFiguresAtSixtyFour) {
  const Results at_32 = results_of({step("twp-a", "h1c-h1c", "titanium", 1, 1, 32),
                                    step("nginx-a", "h1c-h1c", "nginx", 1, 1, 64)});
  EXPECT_EQ(verdict_of(target("Every cell: CPU"), "h1c-h1c", at_32).text,
            "no figure at 64 connections");
  const Results alone = results_of({step("twp-a", "h1c-h1c", "titanium", 1, 1),
                                    step("bare-relay", "h1c-h1c", "bare-relay", 1, 1)});
  EXPECT_EQ(verdict_of(target("Every cell: CPU"), "h1c-h1c", alone).text,
            "nothing to compare with");
  const Results no_cpu = results_of(
      {step("twp-a", "h1c-h1c", "titanium", 1, 0), step("nginx-a", "h1c-h1c", "nginx", 1, 1)});
  EXPECT_EQ(verdict_of(target("Every cell: CPU"), "h1c-h1c", no_cpu).kind, Kind::not_measured);
}

TEST(Verdict, RefusesArmsOfDifferentGenerators) {
  Row other = step("nginx-a", "h1c-h1c", "nginx", 1, 1);
  other.generator = "bombardier";
  const Verdict verdict =
      verdict_of(target("Every cell: CPU"), "h1c-h1c",
                 results_of({step("twp-a", "h1c-h1c", "titanium", 9, 1), other}));
  EXPECT_EQ(verdict.kind, Kind::not_measured);
  EXPECT_EQ(verdict.text, "twp-a was loaded by titanium-load, nginx-a by bombardier: not compared");
}

TEST(Verdict, FallsShortIfOurOwnStepMissedItsLimits) {
  const Results results = results_of({missed(step("twp-a", "h1c-h1c", "titanium", 9000, 1)),
                                      step("nginx-a", "h1c-h1c", "nginx", 10, 100)});
  const Verdict verdict = verdict_of(target("HTTP/1 to HTTP/1: req"), "h1c-h1c", results);
  EXPECT_EQ(verdict.kind, Kind::falls_short);
  EXPECT_EQ(verdict.text, "twp-a missed its error or latency limit at 64 connections");
}

TEST(Verdict, CountsAPeerThatMissedItsLimitsAsItIs) {
  const Results results = results_of({step("twp-a", "h1c-h1c", "titanium", 1000, 10),
                                      missed(step("nginx-a", "h1c-h1c", "nginx", 2000, 10)),
                                      step("haproxy-a", "h1c-h1c", "haproxy", 100, 90)});
  EXPECT_EQ(verdict_of(target("HTTP/1 to HTTP/1: req"), "h1c-h1c", results).text,
            "twp-a 1000/s / nginx-a 2000/s (missed its limits) = 0.50 (≥ 1.1: 54.5 % too little)");
}

TEST(Verdict, ComparesWithTheFloorAndWithHaproxy) {
  const Results results = results_of({step("twp-a", "h1c-h1c", "titanium", 1, 13),
                                      step("bare-relay", "h1c-h1c", "bare-relay", 1, 10),
                                      step("twp-b", "h2c-h2c", "titanium", 1, 7),
                                      step("nginx-b", "h2c-h2c", "nginx", 1, 1),
                                      step("haproxy-b", "h2c-h2c", "haproxy", 1, 20)});
  EXPECT_EQ(verdict_of(target("HTTP/1 to HTTP/1: CPU"), "h1c-h1c", results).text,
            "twp-a 13.0 µs / bare-relay 10.0 µs = 1.30 (≤ 1.3)");
  EXPECT_EQ(verdict_of(target("HTTP/2 to HTTP/2"), "h2c-h2c", results).text,
            "twp-b 7.0 µs / haproxy-b 20.0 µs = 0.35 (≤ 0.35)");
}

TEST(Verdict, LooksAtMemoryAlone) {
  Row row = step("twp-a", "h1c-h1c", "titanium", 1, 1);
  row.proxy_rss_peak_bytes = 26 * 1024 * 1024;
  const Verdict verdict = verdict_of(target("Memory at 64"), "h1c-h1c", results_of({row}));
  EXPECT_EQ(verdict.kind, Kind::falls_short);
  EXPECT_EQ(verdict.text, "twp-a 26.0 MiB = 26.00 (≤ 25: 4.0 % too much)");
}

TEST(Verdict, ChecksTheProbeAgainstTheFastestProductAndNoControl) {
  const auto results = [](double direct) {
    return results_of({step("origin-direct", "h1c-h1c", "origin-direct", direct, 1),
                       step("bare-relay", "h1c-h1c", "bare-relay", 900, 1),
                       step("nginx-a", "h1c-h1c", "nginx", 300, 1),
                       step("twp-a", "h1c-h1c", "titanium", 400, 1),
                       step("twp-b", "h1tls-h1c", "titanium", 9000, 1)});
  };
  EXPECT_EQ(verdict_of(target("The probe itself"), "origin-direct", results(1000)).kind,
            Kind::pass);
  const Verdict slow = verdict_of(target("The probe itself"), "origin-direct", results(999));
  EXPECT_EQ(slow.kind, Kind::falls_short);
  EXPECT_THAT(slow.text, HasSubstr("origin-direct 999/s / twp-a 400/s"));
}

TEST(Verdict, ComparesDecryptingArmsAndFiltersWithTitaniumItself) {
  const auto mitm = [](std::string_view arm, double rps) {
    Row row = step(arm, "h1tls-h1c-mitm", "titanium", rps, 1);
    row.http_versions = "h1tls>h1c";
    return row;
  };
  const Results results = results_of({
      step("twp-reverse-http1-tls", "h1tls-h1c", "titanium", 1000, 1),
      mitm("twp-mitm-http1-tls", 969),
      mitm("twp-mitm-full-http1-tls", 950),
      step("twp-cli-reverse-http1", "h1c-h1c-cli", "titanium", 1000, 1),
      step("twp-cli-plus-waf-http1", "h1c-h1c-cli", "titanium", 970, 1),
      step("twp-cli-plus-cidr-http1", "h1c-h1c-cli", "titanium", 969, 1),
  });
  EXPECT_EQ(verdict_of(target("Decrypting, nothing"), "h1tls-h1c", results).kind,
            Kind::falls_short);
  EXPECT_EQ(verdict_of(target("Decrypting, one field"), "h1tls-h1c", results).kind, Kind::pass);
  EXPECT_EQ(verdict_of(target("Decrypting, one field"), "h1c-h1c", results).kind,
            Kind::not_measured);
  EXPECT_EQ(verdict_of(target("Filter: WAF"), "twp-cli-plus-waf-http1", results).kind, Kind::pass);
  EXPECT_EQ(verdict_of(target("Filter: CIDR"), "twp-cli-plus-cidr-http1", results).kind,
            Kind::falls_short);
  EXPECT_EQ(verdict_of(target("Filter: JWT"), "twp-cli-plus-jwt-http1", results).kind,
            Kind::not_measured);
}

TEST(Judge, HasAVerdictForEachCellWhetherOrNotItWasMeasured) {
  EXPECT_EQ(judge(target("Every cell: CPU"), Results{}).size(), 25U);
  EXPECT_EQ(judge(target("Every other cell"), Results{}).size(), 24U);
  for (const Target& each : kTargets) {
    for (const Verdict& verdict : judge(each, Results{})) {
      EXPECT_EQ(verdict.kind, Kind::not_measured) << each.name;
    }
  }
}

// ---- The command.

std::pair<int, std::string> run(const std::vector<std::string>& files) {
  ::testing::internal::CaptureStdout();
  const int code = run_gates(files);
  return {code, ::testing::internal::GetCapturedStdout()};
}

TEST(RunGates, SucceedsIfNothingThatWasMeasuredFallsShort) {
  const TemporaryFolder folder;
  const auto [code, text] = run({folder.write_rows("x.csv", beside("h1c-h1c", 20, 500).rows)});
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("  pass          h1c-h1c: twp-a 10.0 µs / nginx-a 20.0 µs = 0.50"));
  EXPECT_THAT(text, HasSubstr("  not measured  h1c-h1tls, h1c-h2c, h1c-h2tls, h1c-h3, h1tls-h1c"));
  EXPECT_THAT(text, HasSubstr("3 pass, 0 fall short, "));
}

TEST(RunGates, FailsWithACodeOfItsOwnIfOneFallsShort) {
  const TemporaryFolder folder;
  const auto [code, text] = run({folder.write_rows("x.csv", beside("h1c-h1c", 11, 500).rows)});
  EXPECT_EQ(code, 3);
  EXPECT_THAT(text, HasSubstr("  falls short   h1c-h1c: twp-a 10.0 µs / nginx-a 11.0 µs = 0.91"));
}

TEST(RunGates, RefusesMissingFiles) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run_gates({}), 2);
  EXPECT_EQ(run_gates({"/nowhere/x.csv"}), 2);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("/nowhere/x.csv: can not be read"));
}

}  // namespace
}  // namespace titanium::probe
