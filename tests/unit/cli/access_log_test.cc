// SPDX-License-Identifier: MIT
#include "cli/log/access_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "unit/cli/support.h"

namespace titanium::cli {
namespace {

[[nodiscard]] proxy::ExchangeFinished exchange(std::string_view path) {
  proxy::ExchangeFinished event;
  event.method = "GET";
  event.scheme = "http";
  event.host = "localhost";
  event.path = path;
  event.status = 200;
  return event;
}

[[nodiscard]] std::unique_ptr<AccessLog> open_log(const std::string& path, double rate = 1.0,
                                                  Logger logger = {},
                                                  std::size_t ring_bytes = 1024 * 1024) {
  AccessLogOptions options;
  options.path = path;
  options.sample_rate = rate;
  options.logger = logger;
  options.ring_bytes = ring_bytes;
  auto log = AccessLog::open(std::move(options));
  EXPECT_TRUE(log.has_value()) << (log ? "" : log.error());
  return log ? std::move(*log) : nullptr;
}

[[nodiscard]] long lines_in(const std::string& text) {
  return static_cast<long>(std::ranges::count(text, '\n'));
}

TEST(AccessLog, WritesEverythingBeforeItEnds) {
  const TemporaryFolder folder;
  const std::string path = folder.file("access.log");
  {
    const auto log = open_log(path);
    for (int i = 0; i < 1000; ++i) log->on_exchange_finished(exchange("/"));
  }
  EXPECT_EQ(lines_in(read_file(path)), 1000);
}

TEST(AccessLog, AppendsToWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("access.log");
  std::ofstream(path) << "before\n";
  open_log(path)->on_exchange_finished(exchange("/"));
  const std::string text = read_file(path);
  EXPECT_TRUE(text.starts_with("before\n{"));
  EXPECT_EQ(lines_in(text), 2);
}

TEST(AccessLog, IsNotReadableForOthers) {
  const TemporaryFolder folder;
  const std::string path = folder.file("access.log");
  const auto log = open_log(path);
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0007, 0u);
}

TEST(AccessLog, WritesOnlyTheSampledShare) {
  const TemporaryFolder folder;
  const std::string path = folder.file("access.log");
  {
    const auto log = open_log(path, 0.25);
    for (int i = 0; i < 1000; ++i) log->on_exchange_finished(exchange("/"));
  }
  EXPECT_EQ(lines_in(read_file(path)), 250);
}

TEST(AccessLog, SaysWhyAFileCannotBeOpened) {
  AccessLogOptions options;
  options.path = "/nonexistent-folder/access.log";
  const auto log = AccessLog::open(std::move(options));
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().find("/nonexistent-folder/access.log"), std::string::npos);
  EXPECT_NE(log.error().find("No such file"), std::string::npos);
}

TEST(AccessLog, CountsAndReportsWhatAFullDiskRefuses) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  RecordingSink sink;
  {
    const auto log = open_log("/dev/full", 1.0, {sink, LogLevel::trace});
    for (int i = 0; i < 10; ++i) log->on_exchange_finished(exchange("/"));
    wait_until([&] { return log->unwritten() == 10; });
    EXPECT_EQ(log->dropped(), 0u);
  }
  EXPECT_TRUE(sink.contains("No space left"));
  EXPECT_TRUE(sink.contains("10 not written"));
}

// A pipe whose reader does not read stands for a disk that hangs.
TEST(AccessLog, DropsLinesInsteadOfWaitingForASlowWriter) {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const net::FileDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader);
  RecordingSink sink;
  {
    const auto log = open_log(path, 1.0, {sink, LogLevel::trace}, 64 * 1024);
    // More than pipe and ring hold together: returning at all is the point.
    const std::string long_path = "/" + std::string(4000, 'x');
    for (int i = 0; i < 1000; ++i) log->on_exchange_finished(exchange(long_path));
    EXPECT_GT(log->dropped(), 0u);
  }
  EXPECT_TRUE(sink.contains("dropped"));
}

[[nodiscard]] long whole_lines_in(const std::string& text) {
  std::istringstream lines(text);
  long whole = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('{') && line.ends_with('}')) ++whole;
  }
  return whole;
}

// What is in a pipe whose writers have gone.
[[nodiscard]] std::string drain_pipe(int fd) {
  std::string text;
  char piece[64 * 1024];
  for (ssize_t got = 0; (got = ::read(fd, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

TEST(AccessLog, CountsEachLineOnceAsWrittenDroppedOrUnwritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const net::FileDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(reader);
  constexpr long kLines = 1000;
  RecordingSink sink;
  {
    const auto log = open_log(path, 1.0, {sink, LogLevel::trace}, 64 * 1024);
    const std::string long_path = "/" + std::string(4000, 'x');
    for (long i = 0; i < kLines; ++i) log->on_exchange_finished(exchange(long_path));
  }
  // A line of which the pipe took only a part counts as unwritten.
  const long written = whole_lines_in(drain_pipe(reader.get()));
  // Only the report at the end knows all.
  const std::string report = sink.text();
  const std::size_t last_line = report.rfind("access log: ");
  ASSERT_NE(last_line, std::string::npos);
  long dropped = -1;
  long unwritten = -1;
  ASSERT_EQ(std::sscanf(report.c_str() + last_line,
                        "access log: %ld lines dropped as the writer was behind, %ld not written",
                        &dropped, &unwritten),
            2)
      << report;
  EXPECT_GT(written, 0);
  EXPECT_GT(dropped, 0);
  EXPECT_GT(unwritten, 0);
  EXPECT_EQ(written + dropped + unwritten, kLines);
}

TEST(AccessLog, ReportsNoLossIfThereWasNone) {
  const TemporaryFolder folder;
  RecordingSink sink;
  {
    const auto log = open_log(folder.file("access.log"), 0.5, {sink, LogLevel::trace});
    for (int i = 0; i < 100; ++i) log->on_exchange_finished(exchange("/"));
    EXPECT_EQ(log->dropped(), 0U);
    EXPECT_EQ(log->unwritten(), 0U);
  }
  EXPECT_EQ(sink.text(), "");
}

}  // namespace
}  // namespace titanium::cli
