// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "config/config.h"

namespace titanium::cli {

// The log of the process: lines go into a bounded queue, and a thread of its own writes them to the
// console (stderr) and to a file that is rolled over. When the queue is full, the oldest lines are
// lost and counted, so that a slow disk or terminal never holds up traffic.
//
// A line has time, level and text. Control characters in the text are replaced: part of it may come
// from a client.
class Log final : public LogSink {
 public:
  // `logging` as in the configuration file; without one, warnings and errors go to the console.
  // `verbose` shows everything from debug up on the console. The error is a sentence for the
  // operator.
  [[nodiscard]] static std::expected<std::unique_ptr<Log>, std::string> open(
      const config::Logging* logging, bool verbose);
  // Writes what is queued, and how many lines were lost if any were.
  ~Log();

  void write(LogLevel level, std::string_view line) noexcept override;

  // The handle to pass down. Lives as long as the log.
  [[nodiscard]] Logger logger() noexcept { return {*this, minimum_}; }

  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  struct Impl;
  explicit Log(std::unique_ptr<Impl> impl, LogLevel minimum);

  std::unique_ptr<Impl> impl_;  // Null: nothing is logged.
  LogLevel minimum_;
};

}  // namespace titanium::cli
