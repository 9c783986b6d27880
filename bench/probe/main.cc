// SPDX-License-Identifier: MIT
//
// rps-load-probe: measures Titanium beside other proxies. bench/README.md explains it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <exception>

#include "options.h"
#include "report/gates.h"
#include "report/report.h"
#include "run/cancel.h"
#include "run/ramp.h"

namespace titanium::probe {
namespace {

// Thousands of connections, on both sides of every proxy: children inherit it.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

[[nodiscard]] int dispatch(const Options& options) {
  using enum Options::Command;
  switch (options.command) {
    case ramp:
      end_on_signals();
      return run_ramp(options.ramp);
    case print_arms:
      return probe::print_arms(options.ramp);
    case print_groups:
      return probe::print_groups(options.ramp);
    case serve_origin:
      return probe::serve_origin(options.origin);
    case serve_control:
      return probe::serve_control(options.control);
    case serve_shim:
      return probe::serve_shim(options.shim);
    case report:
      return run_report(options.report);
    case gates:
      return run_gates(options.gate_files);
  }
  return kExitFailed;
}

[[nodiscard]] int run(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) {
    const bool is_help = options.error().code == kExitClean;
    fmt::print(is_help ? stdout : stderr, "{}{}\n",
               is_help ? "" : "rps-load-probe: ", options.error().text);
    return options.error().code;
  }
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  return dispatch(*options);
}

}  // namespace
}  // namespace titanium::probe

int main(int argc, char** argv) {
  try {
    return titanium::probe::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rps-load-probe: {}\n", error.what());
    return titanium::probe::kExitFailed;
  }
}
