// SPDX-License-Identifier: MIT
#include "load/echo_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace titanium::probe {
namespace {

constexpr websocket::Mask kMask = {0x37, 0xfa, 0x21, 0x3d};

std::string make_message(std::uint32_t bytes) {
  std::string frame;
  websocket::append_header(
      frame,
      {.opcode = websocket::Opcode::binary, .final = true, .mask = kMask, .payload_bytes = bytes});
  const std::size_t head = frame.size();
  while (frame.size() < head + bytes) {
    frame.append(pattern().substr(0, head + bytes - frame.size()));
  }
  websocket::apply_mask(std::span(frame).subspan(head), kMask, 0);
  return frame;
}

}  // namespace

EchoCheck::EchoCheck(std::uint32_t message_bytes) : message_(make_message(message_bytes)) {
  check_.expect_pattern(message_bytes);
}

void EchoCheck::expect() noexcept {
  expected_ = true;
  in_message_ = false;
  check_.restart();
}

void EchoCheck::restart() noexcept {
  expected_ = in_message_ = false;
  frame_.reset();
  pongs_.clear();
  problem_.clear();
}

std::string EchoCheck::take_pongs() noexcept { return std::exchange(pongs_, {}); }

EchoCheck::Status EchoCheck::fail(std::string problem) {
  problem_ = std::move(problem);
  return Status::failed;
}

EchoCheck::Status EchoCheck::take(std::string_view& bytes) {
  while (!bytes.empty()) {
    const std::size_t before = bytes.size();
    const Status status = frame_ ? take_payload(bytes) : take_header(bytes);
    if (status != Status::incomplete || bytes.size() == before) return status;
  }
  return Status::incomplete;
}

EchoCheck::Status EchoCheck::take_header(std::string_view& bytes) {
  const auto parsed = websocket::parse_header(bytes, Side::origin);
  if (!parsed) return fail(std::string(parsed.error().what));
  if (!*parsed) return Status::incomplete;
  const websocket::ParsedHeader& frame = **parsed;
  if (frame.header.mask) return fail("a masked frame from the server");
  if (websocket::is_control(frame.header.opcode)) return take_control(frame, bytes);
  const bool continues = frame.header.opcode == websocket::Opcode::continuation;
  if (!expected_ || continues != in_message_) return fail("a message that nobody asked for");
  bytes.remove_prefix(frame.bytes);
  frame_ = frame.header;
  frame_left_ = frame.header.payload_bytes;
  return frame_left_ == 0 ? end_frame() : Status::incomplete;
}

EchoCheck::Status EchoCheck::take_control(const websocket::ParsedHeader& frame,
                                          std::string_view& bytes) {
  const auto length = static_cast<std::size_t>(frame.header.payload_bytes);
  if (bytes.size() < frame.bytes + length) return Status::incomplete;
  if (frame.header.opcode == websocket::Opcode::close) return Status::closed;
  if (frame.header.opcode == websocket::Opcode::ping) {
    websocket::append_header(pongs_, {.opcode = websocket::Opcode::pong,
                                      .final = true,
                                      .mask = websocket::Mask{},  // Zeros change nothing.
                                      .payload_bytes = length});
    pongs_.append(bytes.substr(frame.bytes, length));
  }
  bytes.remove_prefix(frame.bytes + length);
  return Status::incomplete;
}

EchoCheck::Status EchoCheck::take_payload(std::string_view& bytes) {
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), frame_left_));
  if (!check_.take(bytes.substr(0, part))) {
    return fail(fmt::format("wrong echo after {} bytes", check_.seen()));
  }
  bytes.remove_prefix(part);
  frame_left_ -= part;
  return frame_left_ == 0 ? end_frame() : Status::incomplete;
}

EchoCheck::Status EchoCheck::end_frame() {
  in_message_ = !frame_->final;
  frame_.reset();
  if (in_message_) return Status::incomplete;
  if (!check_.is_complete()) {
    return fail(fmt::format("the echo has only {} bytes", check_.seen()));
  }
  expected_ = false;
  return Status::complete;
}

}  // namespace titanium::probe
