// SPDX-License-Identifier: MIT
#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/diagnostic.h"
#include "peers/peer.h"
#include "run/certificates.h"

namespace titanium::probe {
namespace {

constexpr std::uint32_t kMaxConcurrency = 4000;
constexpr std::uint32_t kMaxBodyBytes = 1024 * 1024 * 1024;
constexpr double kMaxSeconds = 24 * 3600;

[[nodiscard]] std::chrono::milliseconds to_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// CLI::Range lets "nan" pass, which is neither below nor above anything.
[[nodiscard]] CLI::Validator number_in(double low, double high) {
  const std::string range = fmt::format("[{} - {}]", low, high);
  return {[=](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            if (is_number && value >= low && value <= high) return std::string();
            return fmt::format("Value {} not in range {}", text, range);
          },
          fmt::format("FLOAT in {}", range)};
}

// Where the parent put the certificates; without it, a child has none.
[[nodiscard]] std::filesystem::path certificate_folder() {
  const char* folder = std::getenv(kCertificatesVariable);
  return folder == nullptr ? "" : folder;
}

[[nodiscard]] bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

// Flags and sub-commands; parse() fills in the members.
class CommandLine {
 public:
  CommandLine() : app_("Measures Titanium beside other proxies", "rps-load-probe") {
    app_.set_help_flag("-h,--help", "Print this help");
    app_.allow_extras();
    app_.footer(
        "Examples:\n"
        "  rps-load-probe --mode compare-spot\n"
        "  rps-load-probe --mode twp-reverse-http1 --concurrency 64 --duration-sec 5\n"
        "  rps-load-probe --mode compare --arm-contains nginx,twp --print-arms\n"
        "  rps-load-probe report results/rps-ramp-20260101-000000.csv\n"
        "bench/README.md says what is measured and how.");
    add_commands();
    add_selection();
    add_ramp();
    add_load();
    add_programs();
    add_child_commands();
    add_sub_commands();
  }

  [[nodiscard]] std::expected<Options, EarlyExit> parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      for (const CLI::App* command : app_.get_subcommands()) {
        return std::unexpected(EarlyExit{kExitClean, command->help("rps-load-probe")});
      }
      return std::unexpected(EarlyExit{kExitClean, app_.help()});
    } catch (const CLI::ParseError& error) {
      return usage(error.what());
    }
    if (const std::string text = first_unknown(); !text.empty()) return usage(text);
    options_.ramp.command_line.assign(argv, argv + argc);
    return finish();
  }

 private:
  static std::unexpected<EarlyExit> usage(std::string text) {
    return std::unexpected(EarlyExit{kExitUsage, std::move(text)});
  }

  void add_commands() {
    const std::string group = "Commands";
    ramp_ = app_.add_flag("--ramp", "Measure (what happens without a command)")->group(group);
    print_arms_ =
        app_.add_flag("--print-arms", "List the arms of --mode, or all; do nothing")->group(group);
    print_groups_ =
        app_.add_flag("--print-groups", "List the rows with their number of arms")->group(group);
  }

  void add_selection() {
    const std::string group = "What to measure";
    RampOptions& ramp = options_.ramp;
    app_.add_option("--mode", ramp.mode, "A comparison, or one arm")
        ->envname("RPS_MODE")
        ->type_name("NAME")
        ->group(group);
    app_.add_option("--arm-shard", ramp.arm_shard, "all, i/n (every n-th row), or one row key")
        ->type_name("SHARD")
        ->group(group);
    app_.add_option("--arm-contains", ramp.arm_contains,
                    "Keep arms with this in their name; a,b: either; a$: at the end")
        ->type_name("TEXT")
        ->group(group);
  }

  void add_ramp() {
    const std::string group = "Ramp";
    RampOptions& ramp = options_.ramp;
    app_.add_option("--concurrency", ramp.concurrency, "Steps: exchanges in flight, as 8,16,32,64")
        ->envname("RPS_CONCURRENCY")
        ->delimiter(',')
        ->check(CLI::Range(1U, kMaxConcurrency))
        ->type_name("LIST")
        ->group(group);
    app_.add_option("--warmup-sec", warm_up_seconds_, "Before each step, not counted")
        ->envname("RPS_WARMUP_SEC")
        ->check(number_in(0, kMaxSeconds))
        ->capture_default_str()
        ->group(group);
    app_.add_option("--duration-sec", duration_seconds_, "What is measured of each step")
        ->envname("RPS_DURATION_SEC")
        ->check(number_in(0.01, kMaxSeconds))
        ->capture_default_str()
        ->group(group);
    app_.add_option("--repeats", ramp.repeats, "Of the whole sequence")
        ->envname("RPS_REPEATS")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str()
        ->group(group);
    app_.add_flag("--stop-on-slo-fail,!--no-stop-on-slo-fail", ramp.stop_on_slo_fail,
                  "End an arm one step after it first failed its objectives (default)")
        ->group(group);
    app_.add_option("--rate", ramp.rate,
                    "Requests/s at fixed times; latency counts from when one was due. 0: off")
        ->check(number_in(0, 10e6))
        ->group(group);
    app_.add_option("--results-dir", ramp.results_dir, "Folder of the result files")
        ->type_name("DIR")
        ->capture_default_str()
        ->group(group);
  }

  void add_load() {
    const std::string group = "Load, instead of what the arm's name says";
    LoadOverrides& load = options_.ramp.load;
    app_.add_option("--method", method_, "GET or POST")
        ->check(CLI::IsMember({"GET", "POST"}))
        ->group(group);
    number("--request-bytes", load.request_bytes, "Body of the request", kMaxBodyBytes, group);
    number("--response-bytes", load.response_bytes, "Body of the answer; 0: the tiny one",
           kMaxBodyBytes, group);
    app_.add_flag("--no-keepalive", load.no_keepalive, "A new connection for each request")
        ->group(group);
    number("--early-response-after", load.early_response_after,
           "The origin answers after so many bytes of the request", kMaxBodyBytes, group);
    number("--client-read-chunk", load.read_chunk_bytes, "Slow client: reads so many bytes,",
           kMaxBodyBytes, group);
    number("--client-read-sleep-ms", load.read_pause_ms, "and then pauses", 60'000, group);
    number("--delay-ms", load.delay_ms, "Delay of the client's link, one way", 60'000, group);
    app_.add_option("--loss-percent", load.loss_percent, "Stalls of the client's link")
        ->check(number_in(0, 100))
        ->group(group);
    app_.add_flag("--websocket", load.websocket, "Echo of WebSocket messages")->group(group);
    app_.add_flag("--grpc", load.grpc, "gRPC, unary Echo; needs HTTP/2 on both legs")->group(group);
    app_.add_option("--streams-per-connection", options_.ramp.streams_per_connection,
                    "HTTP/2: exchanges on one connection; TWP_RPS_SINGLE_HTTP2_CONNECTION=1: all")
        ->check(CLI::Range(1U, kMaxConcurrency))
        ->type_name("N")
        ->capture_default_str()
        ->group(group);
    number("--max-cached-connections", options_.ramp.max_cached_connections,
           "Idle origin connections that a worker of any product keeps (128)", kMaxConcurrency,
           group);
  }

  CLI::Option* number(const std::string& name, std::optional<std::uint32_t>& value,
                      const std::string& purpose, std::uint32_t max, const std::string& group) {
    return app_.add_option(name, value, purpose)
        ->check(CLI::Range(0U, max))
        ->type_name("N")
        ->group(group);
  }

  void add_programs() {
    for (const Peer& peer : peers()) {
      app_.add_option_function<std::string>(
              std::string(peer.path_option),
              [this, product = peer.product](const std::string& path) {
                options_.ramp.program_paths[product] = path;
              },
              "Program, if not found in PATH")
          ->type_name("PATH")
          ->group("Programs");
    }
  }

  void add_child_commands() {
    const std::string group = "For the probe's own children";
    serve_origin_ = app_.add_flag("--serve-origin", "Be the origin")->group(group);
    serve_control_ = app_.add_flag("--serve-proxy", "Be a control proxy")->group(group);
    serve_shim_ = app_.add_flag("--serve-shim", "Be a bad network")->group(group);
    app_.add_option("--control", control_, "Of --serve-proxy")
        ->check(CLI::IsMember({"relay", "reverse-http1"}))
        ->capture_default_str()
        ->group(group);
    port("--port", port_, "To listen on; 0: any free one", group);
    port("--target-port", options_.shim.target_port, "Of --serve-shim", group);
    port("--origin-http-port", origin_http_port_, "Origin", group);
    port("--origin-https-port", options_.origin.https_port, "Origin, TLS", group);
    https_ = app_.add_flag("--https",
                           "TLS too (origin) or only (proxy), with the certificate in the folder "
                           "that TWP_RPS_CERT_DIR names")
                 ->group(group);
    app_.add_flag("--h2c", options_.origin.h2c, "Origin: HTTP/2 on the clear port too")
        ->group(group);
    app_.add_option("--https-protocols", https_protocols_, "Origin, TLS: what ALPN offers")
        ->check(CLI::IsMember({"http1", "http1and2"}))
        ->capture_default_str()
        ->group(group);
  }

  void port(const std::string& name, std::uint16_t& value, const std::string& purpose,
            const std::string& group) {
    app_.add_option(name, value, purpose)
        ->check(CLI::Range(0, 65535))
        ->type_name("PORT")
        ->group(group);
  }

  void add_sub_commands() {
    app_.require_subcommand(0, 1);
    report_ = app_.add_subcommand("report", "Tables and a chart of result files");
    report_->add_option("files", options_.report.files, "Result files")->required();
    report_->add_option("--markdown", options_.report.markdown_file, "File for the tables")
        ->type_name("FILE");
    report_->add_option("--svg", options_.report.svg_file, "File for the chart")->type_name("FILE");
    gates_ = app_.add_subcommand("gates", "Compare result files with the targets");
    gates_->add_option("files", options_.gate_files, "Result files")->required();
  }

  [[nodiscard]] std::string first_unknown() {
    const auto unknown = app_.remaining();
    if (unknown.empty()) return {};
    const std::string name = unknown.front().substr(0, unknown.front().find('='));
    std::vector<std::string> known;
    for (const CLI::Option* option : app_.get_options()) {
      for (const std::string& word : option->get_lnames()) known.push_back("--" + word);
    }
    known.insert(known.end(), {"report", "gates"});
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string_view nearest = config::nearest(name, views);
    return fmt::format("there is no {} '{}'{}", name.starts_with('-') ? "option" : "command", name,
                       nearest.empty() ? "" : fmt::format(", did you mean '{}'?", nearest));
  }

  [[nodiscard]] std::expected<Options, EarlyExit> finish() {
    if (auto problem = choose_command(); !problem.empty()) return usage(problem);
    if (auto problem = check_load(); !problem.empty()) return usage(problem);
    options_.ramp.warm_up = to_milliseconds(warm_up_seconds_);
    options_.ramp.duration = to_milliseconds(duration_seconds_);
    if (is_set("TWP_RPS_SINGLE_HTTP2_CONNECTION")) {
      options_.ramp.streams_per_connection = kMaxConcurrency;
    }
    fill_in_children();
    return options_;
  }

  [[nodiscard]] std::string choose_command() {
    using enum Options::Command;
    const std::pair<bool, Options::Command> commands[] = {
        {report_->parsed(), report},
        {gates_->parsed(), gates},
        {ramp_->count() > 0, ramp},
        {print_arms_->count() > 0, print_arms},
        {print_groups_->count() > 0, print_groups},
        {serve_origin_->count() > 0, serve_origin},
        {serve_control_->count() > 0, serve_control},
        {serve_shim_->count() > 0, serve_shim},
    };
    int chosen = 0;
    for (const auto& [given, command] : commands) {
      if (!given) continue;
      options_.command = command;
      ++chosen;
    }
    return chosen > 1 ? "only one command at a time: --ramp, --print-arms, --print-groups, "
                        "--serve-origin, --serve-proxy, --serve-shim, report or gates"
                      : "";
  }

  [[nodiscard]] std::string check_load() const {
    const LoadOverrides& load = options_.ramp.load;
    const bool has_body = load.request_bytes.value_or(0) > 0;
    if (method_ == "POST" && !has_body) return "--method POST needs --request-bytes above 0";
    if (method_ == "GET" && has_body) return "--request-bytes needs --method POST";
    if (load.read_chunk_bytes.has_value() != load.read_pause_ms.has_value()) {
      return "--client-read-chunk and --client-read-sleep-ms need each other";
    }
    return load.websocket && load.grpc ? "--websocket and --grpc exclude each other" : "";
  }

  void fill_in_children() {
    const std::filesystem::path folder = certificate_folder();
    const bool https = https_->count() > 0;
    options_.origin.http_port = origin_http_port_;
    options_.origin.https = https;
    options_.origin.https_http2 = https_protocols_ == "http1and2";
    if (https) {
      options_.origin.certificate_file = (folder / "leaf.pem").string();
      options_.origin.key_file = (folder / "leaf.key").string();
      options_.control.certificate_file = options_.origin.certificate_file;
      options_.control.key_file = options_.origin.key_file;
    }
    options_.control.kind =
        control_ == "relay" ? ControlOptions::Kind::relay : ControlOptions::Kind::reverse_http1;
    options_.control.port = options_.shim.port = port_;
    options_.control.origin_port = origin_http_port_;
    options_.shim.delay_ms = options_.ramp.load.delay_ms.value_or(0);
    options_.shim.stall_percent = options_.ramp.load.loss_percent.value_or(0);
  }

  CLI::App app_;
  Options options_;
  double warm_up_seconds_ = 2;
  double duration_seconds_ = 8;
  std::string method_;
  std::string control_ = "relay";
  std::string https_protocols_ = "http1and2";
  std::uint16_t port_ = 0;
  std::uint16_t origin_http_port_ = 0;
  CLI::Option* ramp_ = nullptr;
  CLI::Option* print_arms_ = nullptr;
  CLI::Option* print_groups_ = nullptr;
  CLI::Option* serve_origin_ = nullptr;
  CLI::Option* serve_control_ = nullptr;
  CLI::Option* serve_shim_ = nullptr;
  CLI::Option* https_ = nullptr;
  CLI::App* report_ = nullptr;
  CLI::App* gates_ = nullptr;
};

}  // namespace

bool LoadOverrides::any() const noexcept {
  return request_bytes || response_bytes || no_keepalive || websocket || grpc ||
         early_response_after || read_chunk_bytes || read_pause_ms || delay_ms || loss_percent;
}

std::expected<Options, EarlyExit> read_options(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace titanium::probe
