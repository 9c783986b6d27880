// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http1/head_parser.h"
#include "load/transport_connection.h"
#include "load/websocket.h"

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
  // Each returns how many bytes were used; 0: incomplete, or failed and closed.
  [[nodiscard]] std::size_t take_upgrade(std::string_view bytes);
  [[nodiscard]] std::size_t take_header(std::string_view bytes);
  [[nodiscard]] std::size_t take_control(const websocket::ParsedHeader& frame,
                                         std::string_view bytes);
  [[nodiscard]] std::size_t take_payload(std::string_view bytes);
  void end_frame();
  void fail(std::string_view what);

  std::string upgrade_head_;  // Bytes, made once.
  // The message as a masked frame, made once: who listens on loopback learns nothing from a key
  // that stays, and masking anew for each message would measure us.
  std::string message_;
  Exchange* exchange_ = nullptr;
  State state_ = State::upgrading;
  http1::ResponseParser parser_;
  http::ResponseHead head_;
  std::optional<websocket::FrameHeader> frame_;  // Of the echo whose payload is being received.
  std::uint64_t frame_left_ = 0;
  bool in_message_ = false;  // A frame of the echo came, and more of it have to follow.
  BodyCheck check_;
};

}  // namespace titanium::probe
