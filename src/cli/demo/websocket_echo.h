// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace titanium::cli::demo {

// The server side of a WebSocket (RFC 6455 §5) that sends each message back. Bytes in, bytes out,
// no I/O. Data frames are echoed while they arrive, frame by frame, so nothing is collected but the
// payload of control frames.
class WebSocketEcho {
 public:
  static constexpr std::uint64_t kMaxFrameBytes = 1024 * 1024;

  // Takes all of `in` and appends the reaction to `out`. False: the close handshake is done, or the
  // peer broke the protocol (then `out` ends in a close frame that says so). The connection is to
  // be closed; what follows is ignored.
  bool feed(std::string_view in, std::string& out);

 private:
  enum class State : std::uint8_t { header, payload, closed };
  struct Header {
    std::uint8_t opcode = 0;
    bool final = false;
    bool masked = false;
    std::uint64_t bytes = 0;
    std::array<std::uint8_t, 4> mask{};
  };

  [[nodiscard]] std::size_t wanted_header_bytes() const noexcept;
  void collect_header(std::string_view& in, std::string& out);
  void begin_frame(std::string& out);
  void take_payload(std::string_view& in, std::string& out);
  void end_control_frame(std::string& out);
  void fail(std::uint16_t code, std::string& out);
  // 0: fine; else the close code of RFC 6455 §7.4.1 that names the mistake.
  [[nodiscard]] std::uint16_t mistake() const noexcept;

  State state_ = State::header;
  std::array<std::uint8_t, 14> raw_{};  // The header as far as it has arrived.
  std::size_t raw_bytes_ = 0;
  Header frame_;
  std::uint64_t taken_ = 0;  // Payload bytes of this frame so far.
  bool in_message_ = false;  // A data frame without FIN was seen.
  std::string control_;      // Payload of the current control frame, at most 125 bytes.
};

}  // namespace titanium::cli::demo
