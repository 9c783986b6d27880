// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/demo/demo_origin.h"
#include "cli/embedded_default.h"
#include "cli/environment.h"
#include "cli/instance.h"
#include "cli/log/logging.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "config/loader.h"

namespace titanium::cli {
namespace {

// Everything that has to live as long as the server, in the order of construction.
struct Running {
  std::unique_ptr<Log> log;
  std::unique_ptr<demo::DemoOrigin> demo_origin;
  std::unique_ptr<Instance> instance;
  std::chrono::milliseconds drain{0};
};

[[nodiscard]] std::optional<Running> fail(const std::string& message) {
  print_note(message);
  return std::nullopt;
}

[[nodiscard]] std::optional<Running> start_from_file(const RunRequest& request) {
  const config::LoadOutcome outcome = config::load_file(request.config_path);
  print_diagnostics(outcome.diagnostics);
  if (outcome.has_errors()) return std::nullopt;
  const config::Config& config = *outcome.config;

  Running running;
  auto log = Log::open(config.logging ? &*config.logging : nullptr, request.verbose);
  if (!log) return fail(log.error());
  running.log = std::move(*log);
  auto instance =
      Instance::start(config, input_from_environment(request.config_path), running.log->logger());
  if (!instance) {
    for (config::Diagnostic& problem : instance.error()) {
      if (problem.path.ends_with(".port") && problem.hint.empty()) {
        problem.hint = fmt::format("change {} in {}", problem.path, request.config_path);
      }
    }
    print_diagnostics(instance.error());
    return std::nullopt;
  }
  running.instance = std::move(*instance);
  running.drain = config.server.timeouts.drain;
  return running;
}

[[nodiscard]] std::optional<Running> start_embedded(const RunRequest& request) {
  Running running;
  auto log = Log::open(nullptr, request.verbose);
  if (!log) return fail(log.error());
  running.log = std::move(*log);
  auto origin = demo::DemoOrigin::start(running.log->logger());
  if (!origin) return fail(origin.error());
  running.demo_origin = std::move(*origin);

  const config::Config config =
      embedded_config(request.port, request.tls_port, running.demo_origin->address());
  auto instance =
      Instance::start(config, input_from_environment("embedded default"), running.log->logger());
  if (!instance) {
    for (const config::Diagnostic& problem : instance.error()) {
      print_note(describe_embedded_problem(problem));
    }
    return std::nullopt;
  }
  running.instance = std::move(*instance);
  running.drain = config.server.timeouts.drain;
  return running;
}

void announce(const Running& running) {
  const Instance& instance = *running.instance;
  for (const std::string& url : instance.urls()) print_line("listening on " + url);
  if (running.demo_origin != nullptr) {
    for (const std::string& line :
         embedded_hints(instance.urls(), instance.root_certificate_path())) {
      print_line(line);
    }
  }
  print_line("running");
}

[[nodiscard]] Wakeup wait_reporting_reload(SignalWaiter& signals, Logger logger) {
  for (;;) {
    const Wakeup wakeup = signals.wait();
    if (wakeup != Wakeup::reload) return wakeup;
    logger.log(LogLevel::warning, "SIGHUP: reload is not available in this version");
  }
}

// Drains on a thread of its own, as a second signal has to be heard meanwhile. `cause` is the
// first.
void drain(Running& running, SignalWaiter& signals, Wakeup cause) {
  const auto limit = std::chrono::duration<double>(running.drain);
  print_note(fmt::format("draining up to {:g} s, {} to stop at once", limit.count(),
                         cause == Wakeup::interrupt ? "press again" : "send the signal again"));
  bool cut_short = false;
  std::thread drainer([&] {
    cut_short = running.instance->drain();
    signals.finish();
  });
  const Logger logger = running.log->logger();
  while (is_stop(wait_reporting_reload(signals, logger))) running.instance->stop();
  drainer.join();
  if (cut_short) logger.log(LogLevel::warning, "stopped before all exchanges had ended");
}

}  // namespace

int run(const RunRequest& request) {
  raise_descriptor_limit();
  SignalWaiter signals;  // Before any thread, so that all inherit the mask.
  auto running = request.config_path.empty() ? start_embedded(request) : start_from_file(request);
  if (!running) return kExitFailed;
  announce(*running);
  const Wakeup cause = wait_reporting_reload(signals, running->log->logger());
  if (is_stop(cause)) drain(*running, signals, cause);
  return kExitClean;
}

}  // namespace titanium::cli
