// SPDX-License-Identifier: MIT
#include "cli/demo/websocket_echo.h"

#include <algorithm>

namespace titanium::cli::demo {
namespace {

constexpr std::uint8_t kContinuation = 0x0;
constexpr std::uint8_t kText = 0x1;
constexpr std::uint8_t kBinary = 0x2;
constexpr std::uint8_t kClose = 0x8;
constexpr std::uint8_t kPing = 0x9;
constexpr std::uint8_t kPong = 0xa;
constexpr std::uint8_t kFin = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kMaskBit = 0x80;
constexpr std::uint64_t kMaxControlBytes = 125;
constexpr std::uint16_t kProtocolError = 1002;
constexpr std::uint16_t kTooBig = 1009;

[[nodiscard]] bool is_control(std::uint8_t opcode) noexcept { return (opcode & 0x8) != 0; }

void append_header(std::string& out, std::uint8_t first, std::uint64_t bytes) {
  out += static_cast<char>(first);
  if (bytes <= 125) {
    out += static_cast<char>(bytes);
    return;
  }
  const unsigned width = bytes <= 0xffff ? 2 : 8;
  out += static_cast<char>(width == 2 ? 126 : 127);
  for (unsigned i = width; i > 0; --i) {
    out += static_cast<char>(static_cast<std::uint8_t>(bytes >> (8 * (i - 1))));
  }
}

// RFC 6455 §7.4: codes that may be on the wire.
[[nodiscard]] bool is_close_code(unsigned code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace

bool WebSocketEcho::feed(std::string_view in, std::string& out) {
  while (state_ != State::closed) {
    if (state_ == State::header) {
      if (in.empty()) break;
      collect_header(in, out);
    } else {
      take_payload(in, out);
      if (state_ == State::payload) break;  // The rest has yet to arrive.
    }
  }
  return state_ != State::closed;
}

std::size_t WebSocketEcho::wanted_header_bytes() const noexcept {
  if (raw_bytes_ < 2) return 2;
  const std::uint8_t length = raw_[1] & 0x7f;
  const std::size_t extended = length == 126 ? 2 : length == 127 ? 8 : 0;
  return 2 + extended + ((raw_[1] & kMaskBit) != 0 ? 4 : 0);
}

void WebSocketEcho::collect_header(std::string_view& in, std::string& out) {
  while (raw_bytes_ < wanted_header_bytes()) {
    if (in.empty()) return;
    raw_[raw_bytes_++] = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
  }
  begin_frame(out);
}

void WebSocketEcho::begin_frame(std::string& out) {
  frame_ = {.opcode = static_cast<std::uint8_t>(raw_[0] & 0xf),
            .final = (raw_[0] & kFin) != 0,
            .masked = (raw_[1] & kMaskBit) != 0};
  const std::size_t end = raw_bytes_ - (frame_.masked ? 4 : 0);
  frame_.bytes = raw_[1] & 0x7f;
  if (end > 2) {
    frame_.bytes = 0;
    for (std::size_t i = 2; i < end; ++i) frame_.bytes = frame_.bytes << 8 | raw_[i];
  }
  if (frame_.masked)
    std::copy_n(raw_.begin() + static_cast<std::ptrdiff_t>(end), 4, frame_.mask.begin());
  if (const std::uint16_t code = mistake(); code != 0) return fail(code, out);

  raw_bytes_ = 0;
  taken_ = 0;
  control_.clear();
  state_ = State::payload;
  if (is_control(frame_.opcode)) return;
  in_message_ = !frame_.final;
  append_header(out, static_cast<std::uint8_t>(frame_.opcode | (frame_.final ? kFin : 0)),
                frame_.bytes);
}

std::uint16_t WebSocketEcho::mistake() const noexcept {
  if ((raw_[0] & kReserved) != 0) return kProtocolError;  // No extension was agreed on (§5.2).
  if (!frame_.masked) return kProtocolError;              // §5.1: a client has to.
  // §5.2: the shortest form of a length is the only one.
  const std::uint8_t form = raw_[1] & 0x7f;
  if (form == 126 && frame_.bytes <= 125) return kProtocolError;
  if (form == 127 && frame_.bytes <= 0xffff) return kProtocolError;
  if (is_control(frame_.opcode)) {
    const bool known = frame_.opcode == kClose || frame_.opcode == kPing || frame_.opcode == kPong;
    // §5.5: control frames are short and whole.
    return known && frame_.final && frame_.bytes <= kMaxControlBytes ? 0 : kProtocolError;
  }
  const bool starts = frame_.opcode == kText || frame_.opcode == kBinary;
  if (!starts && frame_.opcode != kContinuation) return kProtocolError;
  if (starts == in_message_) return kProtocolError;  // §5.4: messages are not interleaved.
  return frame_.bytes > kMaxFrameBytes ? kTooBig : 0;
}

void WebSocketEcho::take_payload(std::string_view& in, std::string& out) {
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), frame_.bytes - taken_));
  std::string& target = is_control(frame_.opcode) ? control_ : out;
  for (std::size_t i = 0; i < count; ++i, ++taken_) {
    target += static_cast<char>(static_cast<std::uint8_t>(in[i]) ^ frame_.mask[taken_ % 4]);
  }
  in.remove_prefix(count);
  if (taken_ < frame_.bytes) return;
  state_ = State::header;
  if (is_control(frame_.opcode)) end_control_frame(out);
}

void WebSocketEcho::end_control_frame(std::string& out) {
  if (frame_.opcode == kPong) return;
  if (frame_.opcode == kPing) {
    append_header(out, kFin | kPong, control_.size());
    out += control_;
    return;
  }
  if (control_.size() == 1) return fail(kProtocolError, out);
  if (control_.size() >= 2) {
    const unsigned code = static_cast<unsigned>(static_cast<std::uint8_t>(control_[0])) << 8 |
                          static_cast<std::uint8_t>(control_[1]);
    if (!is_close_code(code)) return fail(kProtocolError, out);
    control_.resize(2);
  }
  append_header(out, kFin | kClose, control_.size());
  out += control_;
  state_ = State::closed;
}

void WebSocketEcho::fail(std::uint16_t code, std::string& out) {
  append_header(out, kFin | kClose, 2);
  out += static_cast<char>(code >> 8);
  out += static_cast<char>(code & 0xff);
  state_ = State::closed;
}

}  // namespace titanium::cli::demo
