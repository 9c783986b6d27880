// SPDX-License-Identifier: MIT
#include "cli/log/logging.h"

#include <fmt/format.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/signals.h"

namespace titanium::cli {
namespace {

constexpr std::size_t kSmallestQueue = 16;

[[nodiscard]] spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::information:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::critical:
      return spdlog::level::critical;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// What the CLI does for a file without `logging`: silence would hide what the operator has to know.
[[nodiscard]] config::Logging default_logging() {
  config::Logging logging;
  logging.minimum_level = LogLevel::warning;
  return logging;
}

// https://no-color.org: set and not empty means no colours.
[[nodiscard]] bool wants_colours(const config::Logging& logging) {
  const char* no_color = std::getenv("NO_COLOR");
  return logging.enable_console_colors && (no_color == nullptr || *no_color == '\0') &&
         ::isatty(STDERR_FILENO) == 1;
}

[[nodiscard]] spdlog::sink_ptr console_sink(const config::Logging& logging, LogLevel minimum) {
  const auto mode = wants_colours(logging) ? spdlog::color_mode::always : spdlog::color_mode::never;
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(mode);
  sink->set_level(to_spdlog(minimum));
  return sink;
}

[[nodiscard]] bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

struct Log::Impl {
  std::shared_ptr<spdlog::details::thread_pool> thread;
  std::shared_ptr<spdlog::async_logger> logger;
};

std::expected<std::unique_ptr<Log>, std::string> Log::open(const config::Logging* given,
                                                           bool verbose) {
  const config::Logging logging = given != nullptr ? *given : default_logging();
  const bool console = verbose || (logging.enabled && logging.enable_console);
  const bool file = logging.enabled && logging.enable_file;
  if (!console && !file) return std::unique_ptr<Log>(new Log(nullptr, LogLevel::off));

  const LogLevel configured = logging.enabled ? logging.minimum_level : LogLevel::off;
  const LogLevel console_minimum = verbose ? std::min(LogLevel::debug, configured) : configured;
  std::vector<spdlog::sink_ptr> sinks;
  auto impl = std::make_unique<Impl>();
  try {  // The border to a library that reports failures as exceptions.
    if (console) sinks.push_back(console_sink(logging, console_minimum));
    if (file) {
      sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          logging.file_path, logging.max_file_size_bytes, logging.max_rolled_files));
      sinks.back()->set_level(to_spdlog(configured));
    }
    impl->thread = std::make_shared<spdlog::details::thread_pool>(
        std::max<std::size_t>(logging.queue_capacity, kSmallestQueue), 1,
        [] { block_all_signals(); });
    impl->logger =
        std::make_shared<spdlog::async_logger>("titanium", sinks.begin(), sinks.end(), impl->thread,
                                               spdlog::async_overflow_policy::overrun_oldest);
    impl->logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
    const LogLevel minimum = console ? std::min(console_minimum, configured) : configured;
    impl->logger->set_level(to_spdlog(minimum));
    impl->logger->flush_on(spdlog::level::trace);
    return std::unique_ptr<Log>(new Log(std::move(impl), minimum));
  } catch (const std::exception& error) {
    return std::unexpected(fmt::format("the log cannot be opened: {}", error.what()));
  }
}

Log::Log(std::unique_ptr<Impl> impl, LogLevel minimum)
    : impl_(std::move(impl)), minimum_(minimum) {}

Log::~Log() {
  if (const std::uint64_t count = lost(); count > 0) {
    logger().log(LogLevel::critical, "log: {} lines lost as the queue was full", count);
  }
  // ~Impl ends the logger first, then joins the thread, which writes what is queued.
}

void Log::write(LogLevel level, std::string_view line) noexcept {
  if (impl_ == nullptr) return;
  const spdlog::level::level_enum target = to_spdlog(level);
  try {
    if (std::ranges::none_of(line, is_control)) {
      impl_->logger->log(target, spdlog::string_view_t(line.data(), line.size()));
      return;
    }
    std::string clean(line);
    std::ranges::replace_if(clean, is_control, '?');
    impl_->logger->log(target, spdlog::string_view_t(clean.data(), clean.size()));
  } catch (const std::exception&) {
    // Out of memory, for instance: a lost line must not become a lost process.
  }
}

std::uint64_t Log::lost() const noexcept {
  return impl_ == nullptr ? 0 : impl_->thread->overrun_counter();
}

}  // namespace titanium::cli
