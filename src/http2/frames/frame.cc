// SPDX-License-Identifier: MIT
#include "http2/frames/frame.h"

#include <algorithm>
#include <utility>

namespace titanium::http2 {
namespace {

void put_u32(std::uint8_t* out, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

// Room for a whole small frame; the caller fills the payload and the frame counts from then on.
template <typename Fill>
void write_small_frame(ChunkQueue& out, const FrameHeader& header, Fill fill) {
  const std::size_t bytes = kFrameHeaderBytes + header.length;
  std::uint8_t* frame = out.reserve(bytes);
  encode_frame_header(std::span<std::uint8_t, kFrameHeaderBytes>(frame, kFrameHeaderBytes), header);
  fill(frame + kFrameHeaderBytes);
  out.commit(bytes);
}

FrameHeader header_of(FrameType type, std::size_t length, std::uint32_t stream_id,
                      std::uint8_t flags = 0) noexcept {
  return {.length = static_cast<std::uint32_t>(length),
          .type = std::to_underlying(type),
          .flags = flags,
          .stream_id = stream_id};
}

}  // namespace

void write_frame_header(ChunkQueue& out, const FrameHeader& header) {
  encode_frame_header(
      std::span<std::uint8_t, kFrameHeaderBytes>(out.reserve(kFrameHeaderBytes), kFrameHeaderBytes),
      header);
  out.commit(kFrameHeaderBytes);
}

void write_settings(ChunkQueue& out, std::span<const Setting> settings) {
  write_small_frame(out, header_of(FrameType::settings, settings.size() * 6, 0),
                    [&](std::uint8_t* payload) {
                      for (const Setting& setting : settings) {
                        const auto id = std::to_underlying(setting.id);
                        payload[0] = static_cast<std::uint8_t>(id >> 8);
                        payload[1] = static_cast<std::uint8_t>(id);
                        put_u32(payload + 2, setting.value);
                        payload += 6;
                      }
                    });
}

void write_settings_ack(ChunkQueue& out) {
  write_frame_header(out, header_of(FrameType::settings, 0, 0, flag::kAck));
}

void write_ping(ChunkQueue& out, std::span<const std::uint8_t, 8> opaque, bool ack) {
  write_small_frame(out, header_of(FrameType::ping, opaque.size(), 0, ack ? flag::kAck : 0),
                    [&](std::uint8_t* payload) { std::ranges::copy(opaque, payload); });
}

void write_rst_stream(ChunkQueue& out, std::uint32_t stream_id, ErrorCode code) {
  write_small_frame(out, header_of(FrameType::rst_stream, 4, stream_id),
                    [&](std::uint8_t* payload) { put_u32(payload, std::to_underlying(code)); });
}

void write_window_update(ChunkQueue& out, std::uint32_t stream_id, std::uint32_t increment) {
  write_small_frame(out, header_of(FrameType::window_update, 4, stream_id),
                    [&](std::uint8_t* payload) { put_u32(payload, increment); });
}

void write_goaway(ChunkQueue& out, std::uint32_t last_stream_id, ErrorCode code,
                  std::string_view debug_text) {
  write_small_frame(out, header_of(FrameType::goaway, 8 + debug_text.size(), 0),
                    [&](std::uint8_t* payload) {
                      put_u32(payload, last_stream_id);
                      put_u32(payload + 4, std::to_underlying(code));
                      std::ranges::copy(debug_text, payload + 8);
                    });
}

void write_header_block(ChunkQueue& out, std::uint32_t stream_id, std::string_view block,
                        bool end_stream, std::uint32_t max_frame_bytes) {
  auto type = FrameType::headers;
  std::uint8_t flags = end_stream ? flag::kEndStream : 0;
  do {
    const std::string_view part = block.substr(0, max_frame_bytes);
    block.remove_prefix(part.size());
    if (block.empty()) flags |= flag::kEndHeaders;
    write_frame_header(out, header_of(type, part.size(), stream_id, flags));
    out.append(part);
    type = FrameType::continuation;
    flags = 0;
  } while (!block.empty());
}

}  // namespace titanium::http2
