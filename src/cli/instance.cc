// SPDX-License-Identifier: MIT
#include "cli/instance.h"

#include <fmt/format.h>

#include <utility>

namespace titanium::cli {
namespace {

using Diagnostics = std::vector<config::Diagnostic>;

[[nodiscard]] config::Diagnostic file_problem(const AssemblyInput& input, std::string path,
                                              std::string message) {
  return {.severity = config::Severity::error,
          .file = input.file_name,
          .position = {},
          .path = std::move(path),
          .message = std::move(message),
          .hint = {}};
}

// The message of the server names the address; with it we find the line to change.
[[nodiscard]] config::Diagnostic start_problem(const config::Config& config,
                                               const std::vector<proxy::ListenerOptions>& listeners,
                                               const AssemblyInput& input, std::string message) {
  config::Diagnostic problem = file_problem(input, {}, std::move(message));
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    if (!problem.message.contains(listeners[i].address.to_string())) continue;
    const int line = config.listeners[i].line;
    problem.position = {.line = line, .column = line > 0 ? 1 : 0};
    problem.path = fmt::format("listeners[{}].port", i);
    break;
  }
  return problem;
}

}  // namespace

std::expected<std::unique_ptr<Instance>, Diagnostics> Instance::start(const config::Config& config,
                                                                      const AssemblyInput& input,
                                                                      Logger logger) {
  auto assembly = assemble(config, input);
  if (!assembly) return std::unexpected(std::move(assembly.error()));

  std::unique_ptr<Instance> instance(new Instance());
  instance->root_certificate_path_ = std::move(assembly->root_certificate_path);
  proxy::ServerOptions& options = assembly->options;
  options.logger = logger;
  if (const auto& access_log = config.server.access_log) {
    AccessLogOptions log_options;
    log_options.path = access_log->path;
    log_options.sample_rate = access_log->sample_rate;
    log_options.logger = logger;
    auto log = AccessLog::open(std::move(log_options));
    if (!log) {
      return std::unexpected(
          Diagnostics{file_problem(input, "server.accessLog.path", std::move(log.error()))});
    }
    instance->access_log_ = std::move(*log);
    options.observer = instance->access_log_.get();
  }

  const std::vector<proxy::ListenerOptions> listeners = options.listeners;
  auto server = proxy::Server::start(std::move(options));
  if (!server) {
    return std::unexpected(
        Diagnostics{start_problem(config, listeners, input, std::move(server.error().what))});
  }
  instance->server_ = std::move(*server);
  const std::vector<net::SocketAddress>& addresses = instance->server_->addresses();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    instance->urls_.push_back(assembly->urls[i] + std::to_string(addresses[i].port()));
  }
  return instance;
}

}  // namespace titanium::cli
