// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "control/endpoint.h"
#include "control/worker.h"

namespace titanium::probe::control {

// Bytes in both directions between a client and a connection to the origin of its own.
class Relay final : public Session, private EndpointOwner {
 public:
  // Null if the origin cannot be connected to: the client's connection is closed then.
  [[nodiscard]] static std::unique_ptr<Session> make(Worker& worker, net::FileDescriptor client,
                                                     SslHandle tls, std::uint16_t origin_port);

 private:
  struct Direction {
    Endpoint* from = nullptr;
    Endpoint* to = nullptr;
    bool ended = false;  // `from` sent FIN, and `to` was told.
  };

  Relay(Worker& worker, net::FileDescriptor client, SslHandle tls, std::uint16_t origin_port);
  void on_endpoint(Endpoint& endpoint) override;
  // False: one of the two is broken.
  [[nodiscard]] static bool pump(Direction& direction);

  Worker& worker_;
  std::unique_ptr<Endpoint> client_;
  std::unique_ptr<Endpoint> origin_;
  Direction up_;
  Direction down_;
};

}  // namespace titanium::probe::control
