// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/assembly.h"
#include "cli/log/access_log.h"
#include "config/config.h"
#include "config/diagnostic.h"
#include "proxy/server.h"

namespace titanium::cli {

// One configuration at work: the server and what serves it, started and ended in the right order.
// Methods may be called from any one thread; stop() from any.
class Instance {
 public:
  // When it returns, all listeners accept connections. `logger` outlives the instance.
  [[nodiscard]] static std::expected<std::unique_ptr<Instance>, std::vector<config::Diagnostic>>
  start(const config::Config& config, const AssemblyInput& input, Logger logger);

  // "http://127.0.0.1:8080" of each listener, in the order of the configuration, with real ports.
  [[nodiscard]] const std::vector<std::string>& urls() const noexcept { return urls_; }
  // Of our own CA, if a listener has a certificate from it; else empty.
  [[nodiscard]] const std::string& root_certificate_path() const noexcept {
    return root_certificate_path_;
  }

  // As proxy::Server. drain(): true if exchanges had to be cut short.
  bool drain() { return server_->drain(); }
  void stop() noexcept { server_->stop(); }

 private:
  Instance() = default;

  std::vector<std::string> urls_;
  std::string root_certificate_path_;
  std::unique_ptr<AccessLog> access_log_;  // Outlives the server, which reports to it.
  std::unique_ptr<proxy::Server> server_;
};

}  // namespace titanium::cli
