// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "proxy/options.h"

namespace titanium::proxy {

// Why a server could not start, in words for the operator.
struct StartError {
  std::string what;
};

// The proxy: listeners, and one worker thread per core that serves them.
//
// All methods may be called from any one thread that is not a worker.
class Server {
 public:
  // Opens all listeners and starts the workers; when it returns, connections are accepted. A taken
  // port gives an error that names port and owner.
  [[nodiscard]] static std::expected<std::unique_ptr<Server>, StartError> start(
      ServerOptions options);

  // Stops hard if still running.
  ~Server();

  // Where listener i listens, with the real port.
  [[nodiscard]] const std::vector<net::SocketAddress>& addresses() const noexcept;

  // Stops accepting, closes idle connections, lets exchanges finish. Returns when all are gone or
  // `Timeouts::drain` is over (then true: cut short), or stop() was called.
  bool drain();

  // Stops at once, from any thread or between drain() and its end. Does not wait.
  void stop() noexcept;

  // Waits until all workers have ended.
  void wait();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::proxy
