// SPDX-License-Identifier: MIT
//
// The log as the data path sees it. What a sink does with a line (console, file, roll-over) is
// decided in `cli`; a line is built only if somebody wants it.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>

namespace titanium {

enum class LogLevel : std::uint8_t { trace, debug, information, warning, error, critical, off };

// Takes finished lines. Must not block: called on worker threads, from any of them.
class LogSink {
 public:
  virtual void write(LogLevel level, std::string_view line) noexcept = 0;

 protected:
  ~LogSink() = default;
};

// A cheap handle that is passed down by reference or copied.
class Logger {
 public:
  Logger() = default;  // Discards everything.
  Logger(LogSink& sink, LogLevel minimum) noexcept : sink_(&sink), minimum_(minimum) {}

  [[nodiscard]] bool wants(LogLevel level) const noexcept {
    return sink_ != nullptr && level >= minimum_ && minimum_ != LogLevel::off;
  }
  template <typename... Args>
  void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (!wants(level)) return;
    char line[1024];
    const auto end = fmt::format_to_n(line, sizeof line, format, std::forward<Args>(args)...).out;
    sink_->write(level, {line, static_cast<std::size_t>(end - line)});
  }

 private:
  LogSink* sink_ = nullptr;
  LogLevel minimum_ = LogLevel::off;
};

}  // namespace titanium
