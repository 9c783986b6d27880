// SPDX-License-Identifier: MIT
//
// The load generator: keeps a number of exchanges in flight against one address and measures them.
// One thread, Titanium's own loop, transports and codecs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "load/histogram.h"
#include "net/address.h"
#include "workload.h"

namespace titanium::probe {

struct LoadTarget {
  net::SocketAddress address;
  Wire wire = Wire::http1;
  std::string authority;  // Host or :authority, and the name for SNI and verification.
  std::string ca_file;    // PEM; only for TLS.
};

struct LoadOptions {
  LoadTarget target;
  Workload workload;
  // Exchanges in flight. HTTP/1: as many connections. Multiplexed: connections of
  // `streams_per_connection` streams each, the last one with what is left.
  std::uint32_t concurrency = 8;
  std::uint32_t streams_per_connection = 8;
  // Requests/s at fixed times, however slow the answers are: latency counts from the time at which
  // a request was due (no coordinated omission). 0: as fast as the answers come.
  double rate = 0;
};

struct StepResult {
  std::chrono::duration<double> measured{0};
  std::uint64_t ok = 0;
  // Answers other than 2xx, wrong length or content, broken connections, time-outs.
  std::uint64_t errors = 0;
  Histogram latency;        // Microseconds, of the ok ones.
  std::string first_error;  // Says what and where; empty without errors.
  bool aborted = false;     // The step took longer than it may: counts as 100 % errors.
};

// A generator of one step. Blocking; the thread that calls it drives the loop.
class LoadGenerator {
 public:
  // Errors (`config`): the CA file can not be read.
  [[nodiscard]] static Result<std::unique_ptr<LoadGenerator>> create(LoadOptions options);
  virtual ~LoadGenerator() = default;

  // Sends load for `duration` without counting it. Connections stay open for measure().
  virtual void warm_up(std::chrono::milliseconds duration) = 0;
  // Sends load for `duration`. What was begun in time is waited for, at most 45 s.
  [[nodiscard]] virtual StepResult measure(std::chrono::milliseconds duration) = 0;
};

}  // namespace titanium::probe
