// SPDX-License-Identifier: MIT
//
// What the command line says. Read once; everything below is told what it needs.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arms/product.h"
#include "control/control.h"
#include "origin/origin.h"
#include "report/report.h"
#include "shim/shim.h"
#include "workload.h"

namespace titanium::probe {

// Exit codes are a promise to scripts.
inline constexpr int kExitClean = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitCancelled = 130;

// Flags that change the load of the arms that were chosen. Absent: as the arm's suffix says.
struct LoadOverrides {
  std::optional<std::uint32_t> request_bytes{};
  std::optional<std::uint32_t> response_bytes{};
  bool no_keepalive = false;
  bool websocket = false;
  bool grpc = false;
  std::optional<std::uint32_t> early_response_after{};
  std::optional<std::uint32_t> read_chunk_bytes{};
  std::optional<std::uint32_t> read_pause_ms{};
  std::optional<std::uint32_t> delay_ms{};
  std::optional<double> loss_percent{};

  [[nodiscard]] bool any() const noexcept;
};

struct RampOptions {
  std::string mode;
  std::vector<std::uint32_t> concurrency = {8, 16, 32, 64};
  std::chrono::milliseconds warm_up{2000};
  std::chrono::milliseconds duration{8000};
  std::uint32_t repeats = 1;
  bool stop_on_slo_fail = true;
  std::string arm_shard = "all";
  std::string arm_contains;
  std::string results_dir = "results";
  double rate = 0;
  std::uint32_t streams_per_connection = 8;  // HTTP/2.
  std::optional<std::uint32_t> max_cached_connections;
  LoadOverrides load;
  std::map<Product, std::string> program_paths;  // Of --nginx-path and its like.
  std::vector<std::string> command_line;
};

struct Options {
  enum class Command : std::uint8_t {
    ramp,
    print_arms,
    print_groups,
    serve_origin,
    serve_control,
    serve_shim,
    report,
    gates,
  };
  Command command = Command::ramp;
  RampOptions ramp;
  OriginOptions origin;
  ControlOptions control;
  ShimOptions shim;
  ReportOptions report;
  std::vector<std::string> gate_files;
};

// What to print instead, and the exit code: help, or what is wrong with the arguments.
struct EarlyExit {
  int code = kExitUsage;
  std::string text;
};
[[nodiscard]] std::expected<Options, EarlyExit> read_options(int argc, const char* const* argv);

}  // namespace titanium::probe
