// SPDX-License-Identifier: MIT
#include "run/ramp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arms/modes.h"
#include "arms/wire.h"
#include "run/arm_processes.h"
#include "run/certificates.h"
#include "run/process_tree.h"
#include "run/progress.h"
#include "run/selection.h"
#include "run/slo.h"

namespace titanium::probe {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Arms are compared only if they have the same one.
constexpr std::string_view kGenerator = "rps-load-probe";
constexpr std::uint32_t kPoolConnections = 128;  // Titanium's default, for all products.

// Everything that stays the same while the probe runs.
struct Session {
  const RampOptions& options;
  const Selection& selection;
  std::filesystem::path certificates;
  std::string probe_program;
};

// An arm on its way through the ramp, in one repeat.
struct Contestant {
  const Arm* arm;
  StopRule stop;
  std::unique_ptr<ArmProcesses> processes;
  std::string failure;  // Why it can not be measured any more; else empty.
  steady_clock::duration used{0};
};

[[nodiscard]] std::string version_of(const Selection& selection, Product product) {
  const auto used = selection.products.find(product);
  return used == selection.products.end() ? "" : used->second.version;
}

// What is known of a row before it is measured.
[[nodiscard]] Row blank_row(const Session& session, const Arm& arm, std::uint32_t concurrency,
                            std::uint32_t repeat) {
  const Workload& load = arm.load.workload;
  const Selection& selection = session.selection;
  const auto pool = session.options.max_cached_connections;
  Row row;
  row.timestamp_utc = utc_iso8601();
  row.arm = arm.name;
  row.generator = kGenerator;
  row.concurrency = concurrency;
  row.duration_s = duration<double>(session.options.duration).count();
  row.nginx_version = version_of(selection, Product::nginx);
  row.haproxy_version = version_of(selection, Product::haproxy);
  row.envoy_version = version_of(selection, Product::envoy);
  row.yarp_version = version_of(selection, Product::yarp);
  row.http_versions = std::string(wire_name(arm.client));
  if (arm.product != Product::origin_direct) {
    row.http_versions.append(">").append(wire_name(arm.origin));
  }
  row.max_cached_connections = pool ? std::to_string(*pool) : "";
  row.method = load.request_bytes > 0 || arm.is_grpc() ? "POST" : "GET";
  row.response_bytes = load.response_bytes;
  row.request_bytes = load.request_bytes;
  row.delay_ms = arm.load.delay_ms;
  row.loss_percent = arm.load.loss_percent;
  row.keepalive = load.keep_alive;
  row.row_key = arm.row_key;
  row.product = product_row(arm.product).name;
  row.product_version = version_of(selection, arm.product);
  row.repeat = repeat;
  row.rate = session.options.rate;
  return row;
}

// A step that came to no end counts as 100 % errors, whatever was answered before.
void mark_aborted(Row& row, std::string note) {
  row.errors = std::max<std::uint64_t>(1, row.errors + row.ok);
  row.ok = 0;
  row.rps = 0;
  row.error_rate_pct = 100;
  row.note = std::move(note);
}

void fill_in_load(Row& row, const StepResult& result) {
  constexpr double kMicrosecondsPerMillisecond = 1000;
  const auto ms = [](std::uint64_t us) {
    return static_cast<double>(us) / kMicrosecondsPerMillisecond;
  };
  row.duration_s = result.measured.count();
  row.ok = result.ok;
  row.errors = result.errors;
  row.rps = row.duration_s > 0 ? static_cast<double>(result.ok) / row.duration_s : 0;
  row.error_rate_pct = error_rate_percent(result.ok, result.errors);
  row.p50_ms = ms(result.latency.percentile(50));
  row.p99_ms = ms(result.latency.percentile(99));
  row.max_ms = ms(result.latency.max());
  row.note = result.first_error;
}

void fill_in_usage(Row& row, const TreeUsage& usage) {
  row.proxy_rss_peak_bytes = usage.rss_peak_bytes;
  row.proxy_cpu_avg_pct = usage.cpu_percent();
  if (row.ok == 0) return;
  constexpr double kMicroseconds = 1e6;
  const auto requests = static_cast<double>(row.ok);
  row.cpu_us_per_request = kMicroseconds * (usage.user + usage.system).count() / requests;
  row.cpu_user_us_per_request = kMicroseconds * usage.user.count() / requests;
  row.voluntary_ctx_per_request = static_cast<double>(usage.voluntary_switches) / requests;
}

class Ramp {
 public:
  Ramp(const Session& session, ResultFiles& files)
      : session_(session),
        options_(session.options),
        files_(files),
        progress_(session.selection.arms.size() * options_.concurrency.size() * options_.repeats,
                  options_.warm_up + options_.duration) {}

  [[nodiscard]] int run() {
    for (std::uint32_t repeat = 1; repeat <= options_.repeats; ++repeat) {
      for (const std::string& key : row_keys(session_.selection.arms)) run_row(key, repeat);
    }
    return failed_ ? kExitFailed : kExitClean;
  }

 private:
  void run_row(const std::string& key, std::uint32_t repeat) {
    std::vector<Contestant> contestants;
    for (const Arm& arm : session_.selection.arms) {
      if (arm.row_key == key) contestants.push_back(start(arm));
    }
    for (const std::uint32_t concurrency : options_.concurrency) {
      for (Contestant& contestant : contestants) {
        if (contestant.stop.is_over()) {
          progress_.skip_turns(1);
        } else {
          run_turn(contestant, concurrency, repeat);
        }
      }
    }
  }

  // All arms of the row are there from its beginning to its end, each with an origin of its own,
  // and frozen but for their turns: so every arm measures in the same state at every step, and
  // those that wait take no CPU from the one that is measured.
  [[nodiscard]] Contestant start(const Arm& arm) {
    Contestant contestant{
        .arm = &arm, .stop = StopRule(options_.stop_on_slo_fail), .processes = {}, .failure = {}};
    const auto product = session_.selection.products.find(arm.product);
    auto processes = ArmProcesses::start(
        arm, {.probe_program = session_.probe_program,
              .product_program =
                  product == session_.selection.products.end() ? "" : product->second.program,
              .certificates = session_.certificates,
              .pool_connections = options_.max_cached_connections.value_or(kPoolConnections),
              .pool_given = options_.max_cached_connections.has_value()});
    if (processes) {
      contestant.processes = std::move(*processes);
      contestant.processes->freeze();
    } else {
      progress_.note(fmt::format("{}: {}", arm.name, processes.error()));
      contestant.failure = "did not start";
      failed_ = true;
    }
    return contestant;
  }

  void run_turn(Contestant& contestant, std::uint32_t concurrency, std::uint32_t repeat) {
    const Arm& arm = *contestant.arm;
    progress_.begin_turn(arm.name, concurrency, repeat, options_.repeats);
    Row row = blank_row(session_, arm, concurrency, repeat);
    if (contestant.failure.empty()) {
      const auto begin = steady_clock::now();
      measure(contestant, row);
      contestant.used += steady_clock::now() - begin;
      if (contestant.used > cap()) give_up(contestant, "took longer than an arm may");
    } else {
      mark_aborted(row, contestant.failure);
    }
    row.meets_slo = meets_slo(row, p99_limit(arm.load.slo, arm.client, arm.origin));
    contestant.stop.after_step(row.meets_slo);
    if (!files_.append(row)) {
      progress_.note(fmt::format("{}: {}", files_.csv().string(), std::strerror(errno)));
      failed_ = true;
    }
    progress_.end_turn(row);
  }

  void measure(Contestant& contestant, Row& row) {
    ArmProcesses& processes = *contestant.processes;
    processes.thaw();
    auto generator =
        LoadGenerator::create({.target = processes.target(),
                               .workload = contestant.arm->load.workload,
                               .concurrency = row.concurrency,
                               .streams_per_connection = options_.streams_per_connection,
                               .rate = options_.rate});
    if (!generator) return give_up(contestant, row, std::string(generator.error().what));
    (*generator)->warm_up(options_.warm_up);
    ProcessTreeSampler sampler(processes.measured_pid());
    const StepResult result = (*generator)->measure(options_.duration);
    const TreeUsage usage = sampler.finish();
    fill_in_load(row, result);
    fill_in_usage(row, usage);
    if (result.aborted) mark_aborted(row, "aborted: took longer than a step may");
    if (auto end = processes.obituary(); !end.empty()) return give_up(contestant, row, end);
    processes.freeze();
  }

  // The rest of the ramp is recorded as aborted.
  static void give_up(Contestant& contestant, std::string reason) {
    contestant.failure = "aborted: " + std::move(reason);
    contestant.processes.reset();
  }
  static void give_up(Contestant& contestant, Row& row, std::string reason) {
    give_up(contestant, std::move(reason));
    mark_aborted(row, contestant.failure);
  }

  // Twice what the steps should take, and what one of them may take longer.
  [[nodiscard]] steady_clock::duration cap() const {
    const auto steps = static_cast<std::int64_t>(options_.concurrency.size());
    return 2 * steps * (options_.warm_up + options_.duration) + std::chrono::seconds(90);
  }

  const Session& session_;
  const RampOptions& options_;
  ResultFiles& files_;
  Progress progress_;
  bool failed_ = false;
};

void print_error(std::string_view text) { fmt::print(stderr, "rps-load-probe: {}\n", text); }

// Says once for each product, row or arm what will not be measured.
void explain_absent(const Selection& selection) {
  std::set<std::string> said;
  for (const AbsentArm& entry : selection.absent) {
    const std::string_view product = product_row(entry.arm.product).name;
    std::string text;
    if (entry.reason.empty()) {
      text = fmt::format("{}: {}", product, entry.status);
    } else if (entry.status == "not possible yet") {
      text = fmt::format("row {}: {}: {}", entry.arm.row_key, entry.status, entry.reason);
    } else {
      text = fmt::format("{}: {}: {}", entry.arm.name, entry.status, entry.reason);
    }
    if (said.insert(text).second) fmt::print(stderr, "{}\n", text);
  }
}

[[nodiscard]] std::vector<UsedProduct> used_products(const Selection& selection) {
  std::vector<UsedProduct> used;
  for (const auto& [product, entry] : selection.products) used.push_back(entry);
  return used;
}

[[nodiscard]] int fail(int code, std::string_view text) {
  print_error(text);
  return code;
}

}  // namespace

int run_ramp(const RampOptions& options) {
  if (options.mode.empty()) {
    std::vector<std::string_view> names;
    for (const ModeRow& mode : modes()) names.push_back(mode.name);
    return fail(kExitUsage, fmt::format("--mode is missing: one of {}, or an arm of --print-arms",
                                        fmt::join(names, ", ")));
  }
  const auto selection = select_arms(options);
  if (!selection) return fail(kExitUsage, selection.error());
  explain_absent(*selection);
  if (selection->arms.empty()) return fail(kExitUsage, "no arm is left to measure");

  auto certificates = ScratchFolder::create();
  if (!certificates) return fail(kExitFailed, certificates.error());
  if (auto made = make_certificates(certificates->path()); !made) {
    return fail(kExitFailed, made.error());
  }
  auto files = ResultFiles::create(
      options.results_dir,
      environment_json(options.command_line, used_products(*selection), selection->absent));
  if (!files) return fail(kExitFailed, files.error());
  fmt::print(stderr, "results: {}\n", files->csv().string());

  std::error_code error;
  const Session session{
      .options = options,
      .selection = *selection,
      .certificates = certificates->path(),
      .probe_program = std::filesystem::read_symlink("/proc/self/exe", error).string()};
  return Ramp(session, *files).run();
}

int print_arms(const RampOptions& options) {
  const auto selection = select_arms(options);
  if (!selection) return fail(kExitUsage, selection.error());
  const auto arms = chosen_arms(options);
  if (arms->empty()) return fail(kExitUsage, "no arm matches");
  for (const Arm& arm : *arms) {
    std::string state = "ready";
    for (const AbsentArm& entry : selection->absent) {
      if (entry.arm.name != arm.name) continue;
      state =
          entry.reason.empty() ? entry.status : fmt::format("{}: {}", entry.status, entry.reason);
    }
    fmt::print("{}\t{}\t{}\n", arm.name, arm.row_key, state);
  }
  return kExitClean;
}

int print_groups(const RampOptions& options) {
  const auto arms = chosen_arms(options);
  if (!arms) return fail(kExitUsage, arms.error());
  if (arms->empty()) return fail(kExitUsage, "no arm matches");
  for (const std::string& key : row_keys(*arms)) {
    fmt::print("{}\t{}\n", key, std::ranges::count(*arms, key, &Arm::row_key));
  }
  return kExitClean;
}

}  // namespace titanium::probe
