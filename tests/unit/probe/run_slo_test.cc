// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "run/slo.h"

namespace titanium::probe {
namespace {

constexpr std::chrono::milliseconds kLimit{50};

TEST(Slo, NeedsFewErrorsAndAShortTail) {
  struct Case {
    std::uint64_t ok;
    std::uint64_t errors;
    double p99_ms;
    bool met;
  };
  const Case cases[] = {
      {1000, 0, 10, true}, {1000, 0, 50, true}, {1000, 0, 50.001, false},
      {999, 1, 10, false},  // 0.1 % is not below 0.1 %.
      {1000, 1, 10, true}, {0, 0, 0, false},    {0, 5, 0, false},
  };
  for (const Case& c : cases) {
    Row row;
    row.ok = c.ok;
    row.errors = c.errors;
    row.p99_ms = c.p99_ms;
    EXPECT_EQ(meets_slo(row, kLimit), c.met) << c.ok << " " << c.errors << " " << c.p99_ms;
  }
}

// "+" met, "-" missed; what is measured of it.
[[nodiscard]] std::string measured(std::string_view steps, bool enabled = true) {
  StopRule rule(enabled);
  std::string done;
  for (const char step : steps) {
    if (rule.is_over()) break;
    done += step;
    rule.after_step(step == '+');
  }
  return done;
}

TEST(StopRule, EndsOneStepAfterTheFirstFailThatFollowsAPass) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"++++", "++++"}, {"+-++", "+-+"},    {"++-++", "++-+"},   {"+----", "+--"},
      {"----", "----"}, {"--+--", "--+--"}, {"--+-++", "--+-+"},
  };
  for (const auto& [steps, expected] : cases) EXPECT_EQ(measured(steps), expected) << steps;
}

TEST(StopRule, CanBeSwitchedOff) { EXPECT_EQ(measured("+-+-+-", false), "+-+-+-"); }

}  // namespace
}  // namespace titanium::probe
