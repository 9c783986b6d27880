// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/control.h"
#include "control/reverse.h"
#include "control/worker.h"

namespace titanium::probe::control {

// A control with its workers, for a process of its own (serve_control) and for tests.
class Server {
 public:
  // As many as the proxies under test get.
  static constexpr std::size_t kWorkers = 2;

  // Listens and starts the workers. Errors are texts for humans.
  [[nodiscard]] static std::expected<std::unique_ptr<Server>, std::string> start(
      const ControlOptions& options);
  ~Server();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  struct ContextDelete {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };

  explicit Server(const ControlOptions& options) : options_(options) {}
  [[nodiscard]] bool load_certificate();
  [[nodiscard]] bool listen();
  void add_worker(net::FileDescriptor listening);
  [[nodiscard]] SslHandle make_tls() const;

  ControlOptions options_;
  std::uint16_t port_ = 0;
  std::unique_ptr<SSL_CTX, ContextDelete> context_;
  std::vector<std::unique_ptr<OriginPool>> pools_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::jthread> threads_;
};

}  // namespace titanium::probe::control
