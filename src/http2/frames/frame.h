// SPDX-License-Identifier: MIT
//
// HTTP/2 frames (RFC 9113 §4, §6): constants, the frame header, and writers for every type that we
// send. What a received frame means is decided by Connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/chunk.h"

namespace titanium::http2 {

inline constexpr std::size_t kFrameHeaderBytes = 9;  // RFC 9113 §4.1
// SETTINGS_MAX_FRAME_SIZE as it is before any SETTINGS, which is also what we keep advertising:
// larger frames would only make a stream wait longer for its turn.
inline constexpr std::uint32_t kDefaultFrameBytes = 16'384;
inline constexpr std::uint32_t kLargestFrameBytes = 16'777'215;
inline constexpr std::uint32_t kDefaultWindow = 65'535;                           // RFC 9113 §6.9.2
inline constexpr std::uint32_t kLargestWindow = 0x7fff'ffff;                      // RFC 9113 §6.9.1
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";  // RFC 9113 §3.4

enum class FrameType : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
  priority_update = 16,  // RFC 9218 §7.1
};

namespace flag {
inline constexpr std::uint8_t kAck = 0x1;
inline constexpr std::uint8_t kEndStream = 0x1;
inline constexpr std::uint8_t kEndHeaders = 0x4;
inline constexpr std::uint8_t kPadded = 0x8;
inline constexpr std::uint8_t kPriority = 0x20;
}  // namespace flag

// RFC 9113 §7.
enum class ErrorCode : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  settings_timeout = 4,
  stream_closed = 5,
  frame_size_error = 6,
  refused_stream = 7,
  cancel = 8,
  compression_error = 9,
  connect_error = 10,
  enhance_your_calm = 11,
  inadequate_security = 12,
  http_1_1_required = 13,
};

// RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1.
enum class SettingId : std::uint16_t {
  header_table_size = 1,
  enable_push = 2,
  max_concurrent_streams = 3,
  initial_window_size = 4,
  max_frame_size = 5,
  max_header_list_size = 6,
  enable_connect_protocol = 8,
  no_rfc7540_priorities = 9,
};

struct FrameHeader {
  std::uint32_t length = 0;  // Payload only, in bytes; 24 bits on the wire.
  std::uint8_t type = 0;     // Any value: unknown types are ignored (§5.5).
  std::uint8_t flags = 0;
  std::uint32_t stream_id = 0;  // 31 bits; 0 is the connection itself.

  [[nodiscard]] constexpr bool has(std::uint8_t bits) const noexcept { return (flags & bits) != 0; }
};

// Nine bytes always decode: the length lives in the type, and there is no error to invent.
[[nodiscard]] constexpr FrameHeader decode_frame_header(
    std::span<const std::uint8_t, kFrameHeaderBytes> in) noexcept {
  const auto u32 = [&](std::size_t at) -> std::uint32_t {
    return (std::uint32_t{in[at]} << 24) | (std::uint32_t{in[at + 1]} << 16) |
           (std::uint32_t{in[at + 2]} << 8) | in[at + 3];
  };
  return {.length = u32(0) >> 8,
          .type = in[3],
          .flags = in[4],
          // RFC 9113 §4.1: the reserved bit MUST be ignored when receiving.
          .stream_id = u32(5) & 0x7fff'ffff};
}

constexpr void encode_frame_header(std::span<std::uint8_t, kFrameHeaderBytes> out,
                                   const FrameHeader& header) noexcept {
  out[0] = static_cast<std::uint8_t>(header.length >> 16);
  out[1] = static_cast<std::uint8_t>(header.length >> 8);
  out[2] = static_cast<std::uint8_t>(header.length);
  out[3] = header.type;
  out[4] = header.flags;
  out[5] = static_cast<std::uint8_t>(header.stream_id >> 24);
  out[6] = static_cast<std::uint8_t>(header.stream_id >> 16);
  out[7] = static_cast<std::uint8_t>(header.stream_id >> 8);
  out[8] = static_cast<std::uint8_t>(header.stream_id);
}

struct Setting {
  SettingId id{};
  std::uint32_t value = 0;
};

// Writers: each appends one whole frame. They copy, so nothing has to outlive the call.
void write_frame_header(ChunkQueue& out, const FrameHeader& header);
void write_settings(ChunkQueue& out, std::span<const Setting> settings);
void write_settings_ack(ChunkQueue& out);
void write_ping(ChunkQueue& out, std::span<const std::uint8_t, 8> opaque, bool ack);
void write_rst_stream(ChunkQueue& out, std::uint32_t stream_id, ErrorCode code);
void write_window_update(ChunkQueue& out, std::uint32_t stream_id, std::uint32_t increment);
void write_goaway(ChunkQueue& out, std::uint32_t last_stream_id, ErrorCode code,
                  std::string_view debug_text);

// HEADERS and as many CONTINUATION frames as `block` needs with frames of `max_frame_bytes`
// payload each (§4.3). They follow each other without another frame in between.
void write_header_block(ChunkQueue& out, std::uint32_t stream_id, std::string_view block,
                        bool end_stream, std::uint32_t max_frame_bytes);

}  // namespace titanium::http2
