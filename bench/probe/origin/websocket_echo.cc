// SPDX-License-Identifier: MIT
#include "origin/websocket_echo.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace titanium::probe {
namespace {

// Copies and unmasks in one place; the queue wants pieces that fit its chunks.
void append_unmasked(ChunkQueue& out, std::string_view bytes, const websocket::Mask& mask,
                     std::uint64_t offset) {
  constexpr std::size_t kPieceBytes = 8 * 1024;
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), kPieceBytes);
    auto* const room = reinterpret_cast<char*>(out.reserve(length));
    std::memcpy(room, bytes.data(), length);
    websocket::apply_mask({room, length}, mask, offset);
    out.commit(length);
    bytes.remove_prefix(length);
    offset += length;
  }
}

}  // namespace

Result<std::size_t> WebSocketEcho::take(std::string_view bytes, ChunkQueue& out) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    if (closed_) return bytes.size();  // RFC 6455 §1.4: what follows a close is ignored.
    const std::string_view rest = bytes.substr(used);
    if (frame_) {
      used += take_payload(rest, out);
      continue;
    }
    TI_TRY_ASSIGN(const std::size_t step, take_header(rest, out));
    if (step == 0) break;
    used += step;
  }
  return used;
}

Result<std::size_t> WebSocketEcho::take_header(std::string_view bytes, ChunkQueue& out) {
  TI_TRY_ASSIGN(const auto parsed, websocket::parse_header(bytes, Side::client));
  if (!parsed) return std::size_t{0};
  // RFC 6455 §5.1: a server must close the connection then.
  if (!parsed->header.mask) return protocol_error("frame without a mask", Side::client);
  if (websocket::is_control(parsed->header.opcode)) return take_control(*parsed, bytes, out);
  send_header(parsed->header, out);
  if (parsed->header.payload_bytes > 0) frame_ = parsed->header;
  seen_ = 0;
  return parsed->bytes;
}

std::size_t WebSocketEcho::take_control(const websocket::ParsedHeader& frame,
                                        std::string_view bytes, ChunkQueue& out) {
  const auto length = static_cast<std::size_t>(frame.header.payload_bytes);
  if (bytes.size() < frame.bytes + length) return 0;
  websocket::FrameHeader answer = frame.header;
  // §5.5: ping is answered with pong, close with close, with the same payload; pong with nothing.
  if (answer.opcode == websocket::Opcode::pong) return frame.bytes + length;
  if (answer.opcode == websocket::Opcode::ping) answer.opcode = websocket::Opcode::pong;
  closed_ = answer.opcode == websocket::Opcode::close;
  send_header(answer, out);
  append_unmasked(out, bytes.substr(frame.bytes, length), *frame.header.mask, 0);
  return frame.bytes + length;
}

std::size_t WebSocketEcho::take_payload(std::string_view bytes, ChunkQueue& out) {
  const std::uint64_t left = frame_->payload_bytes - seen_;
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left));
  append_unmasked(out, bytes.substr(0, part), *frame_->mask, seen_);
  seen_ += part;
  if (part == left) frame_.reset();
  return part;
}

void WebSocketEcho::send_header(websocket::FrameHeader header, ChunkQueue& out) {
  header.mask.reset();  // §5.1: a server does not mask.
  header_.clear();
  websocket::append_header(header_, header);
  out.append(header_);
}

}  // namespace titanium::probe
