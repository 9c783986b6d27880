// SPDX-License-Identifier: MIT
//
// HTTP/2 by hand, for the tests of the generator and the origin: frames as they are on the wire.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "http2/frames/frame.h"
#include "http2/hpack/decoder.h"
#include "load_support.h"

namespace titanium::probe::testing {

inline std::string frame(http2::FrameType type, std::uint8_t flags, std::uint32_t stream_id,
                         std::string_view payload = {}) {
  std::array<std::uint8_t, http2::kFrameHeaderBytes> head{};
  http2::encode_frame_header(head, {.length = static_cast<std::uint32_t>(payload.size()),
                                    .type = std::to_underlying(type),
                                    .flags = flags,
                                    .stream_id = stream_id});
  return std::string(head.begin(), head.end()).append(payload);
}

inline std::string u32_text(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xffU);
  return text;
}

inline std::string setting(http2::SettingId id, std::uint32_t value) {
  return std::string(1, '\0') + static_cast<char>(std::to_underlying(id)) + u32_text(value);
}
inline std::string settings_frame(std::string_view settings = {}) {
  return frame(http2::FrameType::settings, 0, 0, settings);
}

using Lines = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// RFC 7541 §6.2.2: literals that need no table. Names and values below 127 bytes.
inline std::string block_of(Lines lines) {
  std::string block;
  for (const auto& [name, value] : lines) {
    block += '\0';
    for (const std::string_view text : {name, value}) {
      block += static_cast<char>(text.size());
      block += text;
    }
  }
  return block;
}
inline std::string headers(std::uint32_t stream_id, bool ended, Lines lines) {
  using namespace http2::flag;
  const auto flags = static_cast<std::uint8_t>(kEndHeaders | (ended ? kEndStream : 0));
  return frame(http2::FrameType::headers, flags, stream_id, block_of(lines));
}
inline std::string data(std::uint32_t stream_id, bool ended, std::string_view text) {
  return frame(http2::FrameType::data, ended ? http2::flag::kEndStream : std::uint8_t{0}, stream_id,
               text);
}

struct Frame {
  http2::FrameHeader header;
  std::string payload;

  [[nodiscard]] bool is(http2::FrameType type) const {
    return header.type == std::to_underlying(type);
  }
  [[nodiscard]] bool ends_stream() const {
    return (is(http2::FrameType::data) || is(http2::FrameType::headers)) &&
           header.has(http2::flag::kEndStream);
  }
};

// A blocking peer that speaks in frames.
class FramePeer {
 public:
  explicit FramePeer(Peer& peer) : peer_(peer) {}

  bool send(std::string_view text) const { return peer_.send(text); }
  // False: the connection has ended.
  bool read(Frame& out) {
    const std::string head = peer_.read_exactly(http2::kFrameHeaderBytes);
    if (head.size() < http2::kFrameHeaderBytes) return false;
    std::array<std::uint8_t, http2::kFrameHeaderBytes> bytes{};
    std::ranges::copy(head, bytes.begin());
    out.header = http2::decode_frame_header(bytes);
    out.payload = peer_.read_exactly(out.header.length);
    return out.payload.size() == out.header.length;
  }
  // Skips everything else, but confirms SETTINGS.
  bool read(http2::FrameType type, Frame& out) {
    while (read(out)) {
      if (out.is(http2::FrameType::settings) && !out.header.has(http2::flag::kAck)) {
        send(frame(http2::FrameType::settings, http2::flag::kAck, 0));
      }
      if (out.is(type)) return true;
    }
    return false;
  }
  // The lines of a block, each "name: value\n". In the order in which the blocks came.
  std::string lines_of(const Frame& headers_frame) {
    http2::FieldBlock block;
    const auto decoded = hpack_.decode(headers_frame.payload, {}, Side::origin, block);
    if (!decoded) return "bad block";
    std::string lines;
    for (const auto& entry : block.entries()) {
      lines.append(block.name(entry)).append(": ").append(block.value(entry)).append("\n");
    }
    return lines;
  }

 private:
  Peer& peer_;
  http2::HpackDecoder hpack_;
};

}  // namespace titanium::probe::testing
