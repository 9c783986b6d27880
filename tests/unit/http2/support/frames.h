// SPDX-License-Identifier: MIT
//
// Frames as text that tests put together byte by byte, and frames as text that tests read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http2/frames/frame.h"
#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"

namespace titanium::http2::test {

using Lines = std::vector<std::pair<std::string, std::string>>;

inline std::string u32(std::uint32_t value) {
  std::string out(4, '\0');
  for (int i = 0; i < 4; ++i) {
    out[static_cast<std::size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
  }
  return out;
}

// A frame with any type, flags, and payload; `length` lies about the payload if it is given.
inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t id,
                         std::string_view payload, std::int64_t length = -1) {
  std::array<std::uint8_t, kFrameHeaderBytes> header{};
  encode_frame_header(header, {.length = static_cast<std::uint32_t>(
                                   length < 0 ? static_cast<std::int64_t>(payload.size()) : length),
                               .type = type,
                               .flags = flags,
                               .stream_id = id});
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) +
         std::string(payload);
}
inline std::string frame(FrameType type, std::uint8_t flags, std::uint32_t id,
                         std::string_view payload, std::int64_t length = -1) {
  return frame(std::to_underlying(type), flags, id, payload, length);
}

inline constexpr std::uint8_t kEnd = flag::kEndStream;
inline constexpr std::uint8_t kWhole = flag::kEndHeaders;

inline std::string data(std::uint32_t id, std::string_view text, std::uint8_t flags = 0) {
  return frame(FrameType::data, flags, id, text);
}
inline std::string padded_data(std::uint32_t id, std::string_view text, std::uint8_t padding,
                               std::uint8_t flags = 0) {
  return frame(
      FrameType::data, static_cast<std::uint8_t>(flags | flag::kPadded), id,
      std::string(1, static_cast<char>(padding)) + std::string(text) + std::string(padding, '\0'));
}
inline std::string rst_stream(std::uint32_t id, ErrorCode code) {
  return frame(FrameType::rst_stream, 0, id, u32(std::to_underlying(code)));
}
inline std::string window_update(std::uint32_t id, std::uint32_t increment) {
  return frame(FrameType::window_update, 0, id, u32(increment));
}
inline std::string ping(std::string_view eight, std::uint8_t flags = 0) {
  return frame(FrameType::ping, flags, 0, eight);
}
inline std::string goaway(std::uint32_t last, ErrorCode code) {
  return frame(FrameType::goaway, 0, 0, u32(last) + u32(std::to_underlying(code)));
}
inline std::string priority(std::uint32_t id, std::uint32_t depends_on) {
  return frame(FrameType::priority, 0, id, u32(depends_on) + std::string(1, '\x10'));
}
inline std::string priority_update(std::uint32_t id, std::string_view value) {
  return frame(FrameType::priority_update, 0, 0, u32(id) + std::string(value));
}
inline std::string settings(std::initializer_list<std::pair<std::uint16_t, std::uint32_t>> list) {
  std::string payload;
  for (const auto& [id, value] : list) {
    payload += static_cast<char>(id >> 8);
    payload += static_cast<char>(id);
    payload += u32(value);
  }
  return frame(FrameType::settings, 0, 0, payload);
}
inline std::string settings_ack() { return frame(FrameType::settings, flag::kAck, 0, ""); }

// A block of literals that are not indexed (RFC 7541 §6.2.2): independent of any table, and of the
// encoder under test. Texts of up to 126 bytes.
inline std::string literal_block(const Lines& lines) {
  std::string out;
  for (const auto& [name, value] : lines) {
    out += '\0';
    for (const std::string& text : {name, value}) {
      if (text.size() < 127) {
        out += static_cast<char>(text.size());
      } else {  // RFC 7541 §5.1.
        out += '\x7f';
        std::size_t rest = text.size() - 127;
        for (; rest >= 128; rest /= 128) out += static_cast<char>(rest % 128 + 128);
        out += static_cast<char>(rest);
      }
      out += text;
    }
  }
  return out;
}
inline std::string headers(std::uint32_t id, const Lines& lines, std::uint8_t flags = kWhole) {
  return frame(FrameType::headers, flags, id, literal_block(lines));
}
inline std::string continuation(std::uint32_t id, std::string_view fragment,
                                std::uint8_t flags = 0) {
  return frame(FrameType::continuation, flags, id, fragment);
}

inline Lines get_lines(std::string_view path = "/") {
  return {{":method", "GET"},
          {":scheme", "http"},
          {":path", std::string(path)},
          {":authority", "a.example"}};
}
inline Lines post_lines(std::string_view path = "/") {
  Lines lines = get_lines(path);
  lines[0].second = "POST";
  return lines;
}
inline std::string get(std::uint32_t id, std::string_view path = "/") {
  return headers(id, get_lines(path), kWhole | kEnd);
}
inline std::string post(std::uint32_t id, std::string_view path = "/") {
  return headers(id, post_lines(path));
}

inline std::string_view name_of(ErrorCode code) {
  constexpr std::string_view kNames[] = {"NO_ERROR",
                                         "PROTOCOL_ERROR",
                                         "INTERNAL_ERROR",
                                         "FLOW_CONTROL_ERROR",
                                         "SETTINGS_TIMEOUT",
                                         "STREAM_CLOSED",
                                         "FRAME_SIZE_ERROR",
                                         "REFUSED_STREAM",
                                         "CANCEL",
                                         "COMPRESSION_ERROR",
                                         "CONNECT_ERROR",
                                         "ENHANCE_YOUR_CALM",
                                         "INADEQUATE_SECURITY",
                                         "HTTP_1_1_REQUIRED"};
  const auto index = std::to_underlying(code);
  return index < std::size(kNames) ? kNames[index] : "?";
}

// Turns what a connection produced into one line per frame. Complains about what is no frame.
class FrameReader {
 public:
  // "DATA 1 END hello", "RST_STREAM 3 CANCEL" …
  std::vector<std::string> read(std::string_view bytes) {
    rest_ += bytes;
    std::vector<std::string> lines;
    std::string_view view = rest_;
    while (view.size() >= kFrameHeaderBytes) {
      const FrameHeader header = decode_frame_header(std::span<const std::uint8_t, 9>(
          reinterpret_cast<const std::uint8_t*>(view.data()), kFrameHeaderBytes));
      if (view.size() - kFrameHeaderBytes < header.length) break;
      lines.push_back(describe(header, view.substr(kFrameHeaderBytes, header.length)));
      view.remove_prefix(kFrameHeaderBytes + header.length);
    }
    rest_.erase(0, rest_.size() - view.size());
    return lines;
  }
  // Nothing of a frame is missing.
  [[nodiscard]] bool is_at_boundary() const { return rest_.empty(); }
  [[nodiscard]] std::size_t largest_data() const { return largest_data_; }
  void skip(std::size_t bytes) { rest_.erase(0, bytes); }

 private:
  static std::uint32_t u32_at(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(text[at + i]);
    }
    return value;
  }
  static std::string settings_text(std::string_view payload) {
    std::string out;
    for (; payload.size() >= 6; payload.remove_prefix(6)) {
      const unsigned id =
          static_cast<std::uint8_t>(payload[0]) * 256U + static_cast<std::uint8_t>(payload[1]);
      out += " " + std::to_string(id) + "=" + std::to_string(u32_at(payload, 2));
    }
    return out;
  }
  std::string block_text(std::string_view block) {
    FieldBlock fields;
    const auto outcome = decoder_.decode(block, {}, Side::client, fields);
    if (!outcome) return " BAD-BLOCK";
    std::string out;
    for (const auto& entry : fields.entries()) {
      out += " ";
      out += fields.name(entry);
      out += "=";
      out += fields.value(entry);
    }
    return out;
  }
  std::string describe(const FrameHeader& header, std::string_view payload) {
    const std::string id = std::to_string(header.stream_id);
    const std::string end = header.has(flag::kEndStream) ? " END" : "";
    const auto code = [&](std::size_t at) {
      return " " + std::string(name_of(static_cast<ErrorCode>(u32_at(payload, at))));
    };
    switch (static_cast<FrameType>(header.type)) {
      case FrameType::data:
        largest_data_ = std::max(largest_data_, payload.size());
        return "DATA " + id + end + " " +
               (payload.size() > 40 ? std::to_string(payload.size()) : std::string(payload));
      case FrameType::headers:
      case FrameType::continuation: {
        block_ += payload;
        if (header.type == std::to_underlying(FrameType::headers)) block_end_ = end;
        if (!header.has(flag::kEndHeaders)) return "PART-OF-BLOCK " + id;
        return "HEADERS " + id + block_end_ + block_text(std::exchange(block_, {}));
      }
      case FrameType::rst_stream:
        return "RST_STREAM " + id + code(0);
      case FrameType::settings:
        return header.has(flag::kAck) ? "SETTINGS ACK" : "SETTINGS" + settings_text(payload);
      case FrameType::ping:
        return (header.has(flag::kAck) ? "PING ACK " : "PING ") + std::string(payload);
      case FrameType::goaway:
        return "GOAWAY " + std::to_string(u32_at(payload, 0)) + code(4);
      case FrameType::window_update:
        return "WINDOW_UPDATE " + id + " " + std::to_string(u32_at(payload, 0));
      default:
        return "UNEXPECTED FRAME " + std::to_string(header.type);
    }
  }

  std::string rest_;
  std::string block_;
  std::string block_end_;
  HpackDecoder decoder_;
  std::size_t largest_data_ = 0;
};

}  // namespace titanium::http2::test
