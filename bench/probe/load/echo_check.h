// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "load/websocket.h"
#include "origin/content.h"

namespace titanium::probe {

// The client's side of a WebSocket that sends one message over and over: the message as a frame,
// and whether what comes back is its echo. Knows frames and nothing of what carries them.
class EchoCheck {
 public:
  enum class Status : std::uint8_t {
    incomplete,  // More has to come.
    complete,    // The echo was complete and right.
    closed,      // The server closed the WebSocket.
    failed,      // Not the echo; problem() says why.
  };

  explicit EchoCheck(std::uint32_t message_bytes);

  // The message as a masked frame, made once: who listens on loopback learns nothing from a key
  // that stays, and masking anew for each message would measure us.
  [[nodiscard]] std::string_view message() const noexcept { return message_; }
  // The message was sent: its echo has to come.
  void expect() noexcept;
  // A new WebSocket: nothing is expected.
  void restart() noexcept;

  // Takes bytes off the front of `bytes`, at most to the end of the echo. What is left is an
  // incomplete header or control frame, and has to come again with more behind it.
  [[nodiscard]] Status take(std::string_view& bytes);
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // What to answer pings with; empties it.
  [[nodiscard]] std::string take_pongs() noexcept;

 private:
  [[nodiscard]] Status fail(std::string problem);
  // Each takes off what it uses; nothing, if a header or control frame is incomplete.
  [[nodiscard]] Status take_header(std::string_view& bytes);
  [[nodiscard]] Status take_control(const websocket::ParsedHeader& frame, std::string_view& bytes);
  [[nodiscard]] Status take_payload(std::string_view& bytes);
  [[nodiscard]] Status end_frame();

  std::string message_;
  std::optional<websocket::FrameHeader> frame_;  // Whose payload is being received.
  std::uint64_t frame_left_ = 0;
  bool expected_ = false;
  bool in_message_ = false;  // A frame of the echo came, and more of it have to follow.
  BodyCheck check_;
  std::string pongs_;
  std::string problem_;
};

}  // namespace titanium::probe
