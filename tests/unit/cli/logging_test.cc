// SPDX-License-Identifier: MIT
#include "cli/log/logging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "unit/cli/support.h"

namespace titanium::cli {
namespace {

[[nodiscard]] config::Logging file_only(const std::string& path) {
  config::Logging logging;
  logging.minimum_level = LogLevel::information;
  logging.enable_console = false;
  logging.enable_file = true;
  logging.file_path = path;
  return logging;
}

// Opens, logs with `use`, closes, and returns what is in the file.
template <typename Use>
[[nodiscard]] std::string logged(config::Logging logging, Use use) {
  {
    auto log = Log::open(&logging, false);
    EXPECT_TRUE(log.has_value()) << (log ? "" : log.error());
    if (log) use(**log);
  }
  return read_file(logging.file_path);
}

// Every '0' of the pattern stands for any digit, every '+' for the sign of a time zone.
[[nodiscard]] bool matches(std::string_view text, std::string_view pattern) {
  return std::ranges::equal(text, pattern, [](char c, char expected) {
    if (expected == '0') return c >= '0' && c <= '9';
    if (expected == '+') return c == '+' || c == '-';
    return c == expected;
  });
}

TEST(Log, WritesTimeLevelAndText) {
  const TemporaryFolder folder;
  const std::string text = logged(file_only(folder.file("log")), [](Log& log) {
    log.logger().log(LogLevel::warning, "port {} is odd", 81);
  });
  EXPECT_TRUE(matches(text, "0000-00-00T00:00:00.000+00:00 warning port 81 is odd\n")) << text;
}

TEST(Log, LeavesOutWhatIsBelowTheMinimum) {
  const TemporaryFolder folder;
  const std::string text = logged(file_only(folder.file("log")), [](Log& log) {
    log.logger().log(LogLevel::debug, "too small");
    log.logger().log(LogLevel::information, "large enough");
  });
  EXPECT_FALSE(text.contains("too small"));
  EXPECT_TRUE(text.contains("large enough"));
}

TEST(Log, KeepsEachMessageOnOneLineWhateverIsInIt) {
  const TemporaryFolder folder;
  const std::string text = logged(file_only(folder.file("log")), [](Log& log) {
    log.logger().log(LogLevel::error, "path {}", "/a\nfaked line\x1b[2J");
  });
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_TRUE(text.contains("path /a?faked line?[2J"));
}

TEST(Log, RollsOverAtTheConfiguredSize) {
  const TemporaryFolder folder;
  config::Logging logging = file_only(folder.file("titanium.log"));
  logging.max_file_size_bytes = 2'000;
  logging.max_rolled_files = 2;
  const std::string text = logged(logging, [](Log& log) {
    for (int i = 0; i < 200; ++i) log.logger().log(LogLevel::error, "line number {:04}", i);
  });
  EXPECT_LE(text.size(), 2'000u);
  EXPECT_TRUE(text.contains("line number 0199"));
  EXPECT_FALSE(read_file(folder.file("titanium.1.log")).empty());
  EXPECT_FALSE(read_file(folder.file("titanium.2.log")).empty());
  EXPECT_TRUE(read_file(folder.file("titanium.3.log")).empty());
}

TEST(Log, IsSilentWhenDisabled) {
  config::Logging logging;
  logging.enabled = false;
  auto log = Log::open(&logging, false);
  ASSERT_TRUE(log.has_value());
  EXPECT_FALSE((*log)->logger().wants(LogLevel::critical));
}

TEST(Log, ShowsWarningsWithoutAConfigurationAndMoreWhenVerbose) {
  auto usual = Log::open(nullptr, false);
  ASSERT_TRUE(usual.has_value());
  EXPECT_TRUE((*usual)->logger().wants(LogLevel::warning));
  EXPECT_FALSE((*usual)->logger().wants(LogLevel::information));
  auto verbose = Log::open(nullptr, true);
  ASSERT_TRUE(verbose.has_value());
  EXPECT_TRUE((*verbose)->logger().wants(LogLevel::debug));
}

TEST(Log, SaysWhyAFileCannotBeOpened) {
  const config::Logging logging = file_only("/proc/no-such-folder/log");
  const auto log = Log::open(&logging, false);
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().find("/proc/no-such-folder"), std::string::npos);
}

}  // namespace
}  // namespace titanium::cli
