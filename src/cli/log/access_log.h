// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "base/rate_limited.h"
#include "cli/log/line_ring.h"
#include "cli/log/sampler.h"
#include "net/tcp.h"
#include "proxy/traffic_observer.h"

namespace titanium::cli {

struct AccessLogOptions {
  std::string path;
  double sample_rate = 1.0;
  // Lines that wait for the disk: about 5000 of usual size.
  std::size_t ring_bytes = 1024 * 1024;
  Logger logger;
};

// Writes an NDJSON line per exchange to a file. The workers only format the line and copy it into a
// ring; a thread of its own writes. A slow or full disk costs lines, which are counted, and never
// holds up traffic.
class AccessLog final : public proxy::TrafficObserver {
 public:
  // Opens the file for appending and starts the writer. The error is a sentence for the operator.
  [[nodiscard]] static std::expected<std::unique_ptr<AccessLog>, std::string> open(
      AccessLogOptions options);
  // Writes what is left and reports what was lost.
  ~AccessLog();

  void on_exchange_finished(const proxy::ExchangeFinished& event) noexcept override;

  // Lines that found no room, and lines that the disk did not take.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return ring_.dropped(); }
  [[nodiscard]] std::uint64_t unwritten() const noexcept {
    return unwritten_.load(std::memory_order_relaxed);
  }

 private:
  AccessLog(net::FileDescriptor file, AccessLogOptions options);
  void write_all();
  void write_batch(std::string_view batch);
  [[nodiscard]] bool wait_for_room();
  void note_failure(int error, std::string_view unwritten);

  AccessLogOptions options_;
  net::FileDescriptor file_;
  Sampler sampler_;
  LineRing ring_;
  std::atomic<std::uint64_t> unwritten_{0};
  std::atomic<bool> closing_{false};
  RateLimited failures_;
  bool torn_ = false;  // The file ends within a line, as a write took only a part.
  std::thread writer_;
};

}  // namespace titanium::cli
