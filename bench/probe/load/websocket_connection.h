// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/head_parser.h"
#include "load/echo_check.h"
#include "load/transport_connection.h"

namespace titanium::probe {

// A WebSocket over HTTP/1.1 (RFC 6455): an exchange is a message and its echo. The upgrade is made
// with the first exchange of a connection and counts for it, as connecting does.
class WebSocketConnection final : public TransportConnection {
 public:
  explicit WebSocketConnection(const ClientShared& shared);

  void begin(Exchange& exchange) override;
  void abandon() override;

 private:
  enum class State : std::uint8_t { upgrading, frames };

  [[nodiscard]] std::size_t consume(std::string_view bytes) override;
  void on_sent() override {}
  void on_ended(std::string_view what) override;

  void send_message();
  // How many bytes were used; 0: incomplete, or failed and closed.
  [[nodiscard]] std::size_t take_upgrade(std::string_view bytes);
  [[nodiscard]] std::size_t take_frames(std::string_view bytes);
  void fail(std::string_view what);

  std::string upgrade_head_;  // Bytes, made once.
  Exchange* exchange_ = nullptr;
  State state_ = State::upgrading;
  http1::ResponseParser parser_;
  http::ResponseHead head_;
  EchoCheck echo_;
};

}  // namespace titanium::probe
