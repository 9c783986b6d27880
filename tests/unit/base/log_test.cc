// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace titanium {
namespace {

class Collector final : public LogSink {
 public:
  void write(LogLevel level, std::string_view line) noexcept override {
    lines.emplace_back(level, line);
  }
  std::vector<std::pair<LogLevel, std::string>> lines;
};

TEST(Logger, PassesWhatIsImportantEnough) {
  Collector sink;
  const Logger logger(sink, LogLevel::warning);
  logger.log(LogLevel::information, "no");
  logger.log(LogLevel::warning, "{} of {}", 1, "two");
  logger.log(LogLevel::critical, "yes");
  ASSERT_EQ(sink.lines.size(), 2u);
  EXPECT_EQ(sink.lines[0], std::pair(LogLevel::warning, std::string("1 of two")));
  EXPECT_EQ(sink.lines[1].second, "yes");
}

TEST(Logger, SaysNothingWithoutASinkOrWhenOff) {
  Logger().log(LogLevel::critical, "nobody hears");
  EXPECT_FALSE(Logger().wants(LogLevel::critical));
  Collector sink;
  const Logger off(sink, LogLevel::off);
  off.log(LogLevel::critical, "no");
  EXPECT_FALSE(off.wants(LogLevel::off));
  EXPECT_TRUE(sink.lines.empty());
}

TEST(Logger, CutsLinesThatAreTooLong) {
  Collector sink;
  const Logger logger(sink, LogLevel::trace);
  logger.log(LogLevel::trace, "{}", std::string(5000, 'x'));
  ASSERT_EQ(sink.lines.size(), 1u);
  EXPECT_EQ(sink.lines[0].second, std::string(1024, 'x'));
}

}  // namespace
}  // namespace titanium
