// SPDX-License-Identifier: MIT
#include "config/report.h"

#include <gtest/gtest.h>

namespace titanium::config {
namespace {

TEST(Report, KnowsWhichPathsAreSound) {
  Report report("f");
  report.error({1, 1}, "listeners[1].port", "x");
  report.error({1, 1}, "server", "x");
  report.warning({1, 1}, "logging", "x");
  const std::string_view unsound[] = {"listeners[1].port", "listeners[1]",
                                      "listeners",         "server",
                                      "server.limits",     "server.limits.maxHeaderCount"};
  for (const auto path : unsound) EXPECT_FALSE(report.is_sound(path)) << path;
  const std::string_view sound[] = {"listeners[0]",
                                    "listeners[1].host",
                                    "listeners[10].port",
                                    "listeners[1].por",
                                    "serve",
                                    "servers",
                                    "logging",
                                    "routes"};
  for (const auto path : sound) EXPECT_TRUE(report.is_sound(path)) << path;
}

TEST(Report, GivesProblemsInTheOrderOfTheFile) {
  Report report("f");
  report.error({3, 1}, "c", "third");
  report.warning({1, 2}, "a", "first");
  report.error({2, 9}, "b", "second");
  report.error({3, 1}, "c", "fourth");
  const auto all = report.take();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].message, "first");
  EXPECT_EQ(all[1].message, "second");
  EXPECT_EQ(all[2].message, "third");
  EXPECT_EQ(all[3].message, "fourth");
  EXPECT_EQ(all[0].file, "f");
}

TEST(Report, CountsErrorsButNotWarnings) {
  Report report("f");
  report.warning({1, 1}, "a", "x");
  EXPECT_FALSE(report.has_errors());
  report.add({{.severity = Severity::error, .message = "x"}});
  EXPECT_TRUE(report.has_errors());
}

}  // namespace
}  // namespace titanium::config
