// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/endpoint.h"
#include "control/message.h"
#include "control/worker.h"

namespace titanium::probe::control {

// Idle connections to the origin, of one worker.
class OriginPool final : private EndpointOwner {
 public:
  explicit OriginPool(std::uint16_t port) noexcept : port_(port) {}

  // The one used last, or a new one; null if there is no descriptor or port left.
  [[nodiscard]] std::unique_ptr<Endpoint> take(Worker& worker, EndpointOwner* owner);
  void put(Worker& worker, std::unique_ptr<Endpoint> endpoint);

 private:
  void on_endpoint(Endpoint& endpoint) override;

  std::uint16_t port_;
  Worker* worker_ = nullptr;
  std::vector<std::unique_ptr<Endpoint>> idle_;
};

// An HTTP/1.1 reverse proxy with nothing but framing: heads are passed on without hop-by-hop
// fields, bodies as they are, 101 becomes a relay.
class Reverse final : public Session, private EndpointOwner {
 public:
  Reverse(Worker& worker, OriginPool& pool, net::FileDescriptor client, SslHandle tls);

 private:
  struct Direction {
    std::string unread;  // Part of a head, or the next request.
    Head head;
    BodyScanner body;
    bool in_head = true;
    bool done = false;
  };

  void on_endpoint(Endpoint& endpoint) override;
  void pump();
  // Each is false when the session cannot go on.
  [[nodiscard]] bool pump_request();
  [[nodiscard]] bool pump_response();
  [[nodiscard]] bool take_request(std::string_view input);
  [[nodiscard]] bool take_request_head(std::string_view input);
  [[nodiscard]] bool take_response(std::string_view input);
  [[nodiscard]] bool take_response_head(std::string_view& input);
  [[nodiscard]] bool on_origin_ended();

  void start_tunnel();
  void finish_exchange();
  void refuse(std::string_view status);
  void discard();
  void close();

  Worker& worker_;
  OriginPool& pool_;
  std::unique_ptr<Endpoint> client_;
  std::unique_ptr<Endpoint> origin_;
  Direction request_;
  Direction response_;
  std::string out_;  // Kept for its memory.
  bool tunnel_ = false;
  bool closing_ = false;  // The last answer was sent; only the client's end is waited for.
  bool closed_ = false;
};

}  // namespace titanium::probe::control
