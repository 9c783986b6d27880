// SPDX-License-Identifier: MIT
#include "run/arm_processes.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "arms/wire.h"
#include "net/file_descriptor.h"
#include "peers/peer.h"
#include "run/certificates.h"

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kOwnReadyWithin{20'000};
constexpr milliseconds kProbeInterval{20};

[[nodiscard]] sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[nodiscard]] bool is_free(std::uint16_t port) {
  const net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

[[nodiscard]] bool can_connect(std::uint16_t port) {
  const net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

[[nodiscard]] std::string last_lines(std::string_view text, std::size_t count) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t begin = text.size();
  for (std::size_t i = 0; i < count && begin != 0; ++i) {
    const std::size_t feed = text.rfind('\n', begin - 1);
    begin = feed == std::string_view::npos ? 0 : feed;
  }
  if (begin < text.size() && text[begin] == '\n') ++begin;
  return std::string(text.substr(begin));
}

using Environment = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] Environment trusted_roots(const StartOptions& options) {
  return {{"SSL_CERT_FILE", (options.certificates / "root.pem").string()}};
}

}  // namespace

std::uint16_t free_port() {
  constexpr int kFirst = 12'000;
  constexpr int kCount = 18'000;
  // Probes that run at the same time begin in different places.
  static int next = static_cast<int>(getpid()) * 37 % kCount;
  for (int tried = 0; tried < kCount; ++tried) {
    next = (next + 1) % kCount;
    const auto port = static_cast<std::uint16_t>(kFirst + next);
    if (is_free(port)) return port;
  }
  return 0;
}

std::uint16_t port_in(std::string_view line, std::string_view key) {
  const std::string wanted = fmt::format(" {}=", key);
  const std::size_t at = line.find(wanted);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = line.substr(at + wanted.size());
  std::uint16_t port = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), port);
  return port;
}

std::expected<std::unique_ptr<ArmProcesses>, std::string> ArmProcesses::start(
    const Arm& arm, const StartOptions& options) {
  auto folder = ScratchFolder::create();
  if (!folder) return std::unexpected(folder.error());
  auto processes = std::unique_ptr<ArmProcesses>(new ArmProcesses(arm, std::move(*folder)));
  if (auto started = processes->start_all(options); !started) {
    return std::unexpected(processes->explain(started.error()));
  }
  return processes;
}

std::expected<void, std::string> ArmProcesses::start_all(const StartOptions& options) {
  if (auto done = start_origin(options); !done) return done;
  port_ = origin_port_;
  if (!options.product_program.empty()) {
    if (auto done = start_product(options); !done) return done;
  } else if (arm_.product != Product::origin_direct) {
    if (auto done = start_control(options); !done) return done;
  }
  if (arm_.load.has_shim()) {
    if (auto done = start_shim(options); !done) return done;
  }
  auto address = net::SocketAddress::parse("127.0.0.1", port_);
  if (!address) return std::unexpected("127.0.0.1 is no address");
  target_ = {.address = *address,
             .wire = arm_.client,
             .authority = std::string(kServerName),
             .ca_file = is_tls(arm_.client) ? (options.certificates / "root.pem").string() : ""};
  return wait_until_ready(options);
}

std::expected<std::string, std::string> ArmProcesses::start_own(
    const StartOptions& options, std::unique_ptr<ChildProcess>& child, std::string name,
    std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), options.probe_program);
  auto started = ChildProcess::start(
      {.command = std::move(arguments),
       .log_file = folder_.path() / (name + ".log"),
       .environment = {{kCertificatesVariable, options.certificates.string()}}});
  if (!started) return std::unexpected(started.error());
  child = std::move(*started);
  std::string line = child->wait_for_line("ready ", kOwnReadyWithin);
  if (line.empty()) return std::unexpected(fmt::format("the {} did not start", name));
  return line;
}

std::expected<void, std::string> ArmProcesses::start_origin(const StartOptions& options) {
  // Straight to the origin there is only the client's wire.
  const Wire wire = arm_.product == Product::origin_direct ? arm_.client : arm_.origin;
  std::vector<std::string> arguments = {"--serve-origin"};
  if (is_tls(wire)) arguments.emplace_back("--https");
  if (wire == Wire::h2c) arguments.emplace_back("--h2c");
  if (wire == Wire::http1_tls) arguments.insert(arguments.end(), {"--https-protocols", "http1"});
  const auto line = start_own(options, origin_, "origin", std::move(arguments));
  if (!line) return std::unexpected(line.error());
  origin_port_ = port_in(*line, is_tls(wire) ? "https" : "http");
  return {};
}

std::expected<void, std::string> ArmProcesses::start_control(const StartOptions& options) {
  const bool relay = arm_.product == Product::bare_relay;
  std::vector<std::string> arguments = {"--serve-proxy", "--control",
                                        relay ? "relay" : "reverse-http1", "--origin-http-port",
                                        std::to_string(origin_port_)};
  if (is_tls(arm_.client)) arguments.emplace_back("--https");
  const auto line = start_own(options, proxy_, "control", std::move(arguments));
  if (!line) return std::unexpected(line.error());
  port_ = port_in(*line, "port");
  return {};
}

std::expected<void, std::string> ArmProcesses::start_shim(const StartOptions& options) {
  std::vector<std::string> arguments = {"--serve-shim",
                                        "--target-port",
                                        std::to_string(port_),
                                        "--delay-ms",
                                        std::to_string(arm_.load.delay_ms),
                                        "--loss-percent",
                                        fmt::format("{}", arm_.load.loss_percent)};
  const auto line = start_own(options, shim_, "shim", std::move(arguments));
  if (!line) return std::unexpected(line.error());
  port_ = port_in(*line, "port");
  return {};
}

std::expected<void, std::string> ArmProcesses::start_product(const StartOptions& options) {
  port_ = free_port();
  const Peer* peer = find_peer(arm_.product);
  const PeerInput input{.client = arm_.client,
                        .origin = arm_.origin,
                        .port = port_,
                        .origin_port = origin_port_,
                        .websocket = arm_.is_websocket(),
                        .grpc = arm_.is_grpc(),
                        .folder = folder_.path(),
                        .certificates = options.certificates,
                        .workers = std::max(1U, std::thread::hardware_concurrency()),
                        .pool_connections = options.pool_connections,
                        .pool_given = options.pool_given};
  for (const ConfigFile& file : peer->configure(input)) {
    if (write_file(folder_.path() / file.name, file.text)) continue;
    return std::unexpected(fmt::format("{}: {}", file.name, std::strerror(errno)));
  }
  std::vector<std::string> command = {options.product_program};
  const std::vector<std::string> arguments = peer->arguments(input);
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto started = ChildProcess::start(
      {.command = std::move(command),
       .log_file = folder_.path() / "product.log",
       .environment = peer->roots_by_environment ? trusted_roots(options) : Environment{}});
  if (!started) return std::unexpected(started.error());
  proxy_ = std::move(*started);
  return {};
}

// A product is ready when the generator itself gets an answer through it: this also shows that the
// configuration, the certificates and the way to the origin are right.
std::expected<void, std::string> ArmProcesses::wait_until_ready(const StartOptions& options) {
  const auto deadline = steady_clock::now() + options.ready_within;
  std::string problem = "does not listen";
  while (steady_clock::now() < deadline) {
    if (std::string ended = obituary(); !ended.empty()) return std::unexpected(ended);
    if (can_connect(port_)) {
      auto generator = LoadGenerator::create({.target = target_, .workload = {}, .concurrency = 1});
      if (!generator) return std::unexpected(std::string(generator.error().what));
      const StepResult result = (*generator)->measure(kProbeInterval);
      if (result.ok > 0 && result.errors == 0) return {};
      problem = result.first_error;
    }
    std::this_thread::sleep_for(kProbeInterval);
  }
  return std::unexpected(
      fmt::format("not ready within {} s: {}", options.ready_within.count() / 1000, problem));
}

std::string ArmProcesses::explain(const std::string& problem) {
  folder_.keep();
  std::string text = fmt::format("{}; its files are kept in {}", problem, folder_.path().string());
  ChildProcess* last = proxy_ ? proxy_.get() : origin_.get();
  if (last == nullptr) return text;
  constexpr std::size_t kLines = 10;
  const std::string said = last_lines(last->output(), kLines);
  return said.empty() ? text : text + "\nthe last lines of its output:\n" + said;
}

pid_t ArmProcesses::measured_pid() const noexcept { return (proxy_ ? proxy_ : origin_)->pid(); }

std::string ArmProcesses::obituary() {
  const std::pair<const char*, ChildProcess*> all[] = {
      {"the proxy", proxy_.get()}, {"the origin", origin_.get()}, {"the shim", shim_.get()}};
  for (const auto& [name, child] : all) {
    if (child != nullptr && !child->is_alive()) {
      return fmt::format("{} ended with {}", name, child->ending());
    }
  }
  return {};
}

void ArmProcesses::for_each(const std::function<void(ChildProcess&)>& action) {
  for (ChildProcess* child : {origin_.get(), proxy_.get(), shim_.get()}) {
    if (child != nullptr) action(*child);
  }
}

void ArmProcesses::freeze() {
  for_each([](ChildProcess& child) { child.freeze(); });
}

void ArmProcesses::thaw() {
  for_each([](ChildProcess& child) { child.thaw(); });
}

}  // namespace titanium::probe
