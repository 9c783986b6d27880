// SPDX-License-Identifier: MIT
//
// The client of the differential target: turns bytes into frames, good ones and bad ones, and knows
// what it has said. It composes whole frames, so that it can tell what each of them means.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../../tests/unit/http2/hpack/nghttp2_hpack.h"
#include "../../../tests/unit/http2/support/frames.h"

namespace titanium::fuzz {

using http2::FrameHeader;
using http2::FrameType;
using http2::test::Lines;

// Numbers and texts from the front of the input.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t number() {
    const std::string_view one = take(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one.front());
  }
  std::uint32_t number32() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | number();
    return value;
  }
  std::string_view take(std::size_t bytes) {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

// What the client has said on a stream, frames that are malformed on the way left out.
struct Said {
  std::string body;
  bool ended = false;  // END_STREAM, in whatever state the stream was.
  bool reset = false;
  // The servers disagree about it, for a reason that is listed: nothing is said on it any more.
  bool is_over = false;
};

// One frame, and what was the case before it.
struct Step {
  std::string bytes;
  FrameHeader header;
  std::string payload;
  bool is_new = false;         // A stream that the client may open.
  bool is_idle = false;        // The same, or one that nobody may open.
  bool was_skipped = false;    // A stream that the client left out when it opened a higher one.
  bool had_ended = false;      // The stream's direction was complete.
  bool had_reset = false;      // The client had reset it.
  bool ends_block = false;     // A field block is complete with this frame.
  bool is_well_formed = true;  // Of a block: HPACK can be decoded.
  bool block_ends_stream = false;
  test::FieldLines lines;  // Of the block.
};

// Follows the frames from the sender's side.
class Client {
 public:
  std::map<std::uint32_t, Said> said;
  std::uint32_t last_id = 0;
  std::uint32_t acknowledged = 0;           // SETTINGS ACK that were sent.
  std::optional<std::uint32_t> priorities;  // The value of NO_RFC7540_PRIORITIES.
  bool changed_priorities = false;

  // The stream of the last HEADERS did, by its priority.
  [[nodiscard]] bool depends_on_itself() const { return depends_on_itself_; }
  [[nodiscard]] bool block_is_open() const { return block_id_ != 0; }

  // The next frame to say. To be called once for each.
  Step step(std::uint8_t type, std::uint8_t flags, std::uint32_t id, std::string_view payload) {
    Step step;
    step.header = {.length = static_cast<std::uint32_t>(payload.size()),
                   .type = type,
                   .flags = flags,
                   .stream_id = id & 0x7fff'ffff};
    step.payload = payload;
    step.bytes = http2::test::frame(type, flags, id, payload);
    id = step.header.stream_id;
    step.is_new = id % 2 == 1 && id > last_id;
    step.is_idle = id % 2 == 0 || id > last_id;
    step.was_skipped = id % 2 == 1 && id < last_id && !said.contains(id);
    if (const auto known = said.find(id); known != said.end()) {
      step.had_ended = known->second.ended;
      step.had_reset = known->second.reset;
    }
    follow(step);
    return step;
  }
  Step step(FrameType type, std::uint8_t flags, std::uint32_t id, std::string_view payload) {
    return step(std::to_underlying(type), flags, id, payload);
  }
  std::string encode(const test::FieldLines& lines) { return deflater_.encode(lines); }

 private:
  void follow(Step& step) {
    switch (static_cast<FrameType>(step.header.type)) {
      case FrameType::headers:
        return follow_headers(step);
      case FrameType::continuation:
        if (step.header.stream_id == block_id_ && block_id_ != 0)
          follow_fragment(step, step.payload);
        return;
      case FrameType::data:
        return follow_data(step);
      case FrameType::rst_stream:
        if (said.contains(step.header.stream_id)) said[step.header.stream_id].reset = true;
        return;
      case FrameType::settings:
        return follow_settings(step);
      default:
        return;
    }
  }
  void follow_settings(const Step& step) {
    if (step.header.has(http2::flag::kAck)) {
      ++acknowledged;
      return;
    }
    std::string_view rest = step.payload;
    for (; rest.size() >= 6; rest.remove_prefix(6)) {
      if (rest[0] != 0 || rest[1] != 9) continue;
      const std::uint32_t value = static_cast<std::uint8_t>(rest[5]);
      changed_priorities |= priorities.value_or(is_first_settings_ ? value : 0) != value;
      priorities = value;
    }
    if (!priorities) priorities = 0;
    is_first_settings_ = false;
  }
  // Takes padding and priority away; nullopt: they are malformed.
  static std::optional<std::string_view> content_of(const Step& step, bool has_priority) {
    std::string_view rest = step.payload;
    std::size_t padding = 0;
    if (step.header.has(http2::flag::kPadded)) {
      if (rest.empty()) return std::nullopt;
      padding = static_cast<std::uint8_t>(rest.front());
      rest.remove_prefix(1);
    }
    if (has_priority) {
      if (rest.size() < 5) return std::nullopt;
      rest.remove_prefix(5);
    }
    if (padding > rest.size()) return std::nullopt;
    return rest.substr(0, rest.size() - padding);
  }
  void follow_headers(Step& step) {
    const bool has_priority = step.header.has(http2::flag::kPriority);
    const auto fragment = content_of(step, has_priority);
    if (!fragment || block_id_ != 0) return;
    if (has_priority) {
      const std::size_t at = step.header.has(http2::flag::kPadded) ? 1 : 0;
      std::uint32_t depends_on = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        depends_on = depends_on << 8 | static_cast<std::uint8_t>(step.payload[at + i]);
      }
      depends_on_itself_ = (depends_on & 0x7fff'ffff) == step.header.stream_id;
    } else {
      depends_on_itself_ = false;
    }
    block_id_ = step.header.stream_id;
    block_ends_ = step.header.has(http2::flag::kEndStream);
    block_is_new_ = step.is_new;
    block_was_skipped_ = step.was_skipped;
    follow_fragment(step, *fragment);
  }
  void follow_fragment(Step& step, std::string_view fragment) {
    block_ += fragment;
    if (!step.header.has(http2::flag::kEndHeaders)) return;
    const std::uint32_t id = std::exchange(block_id_, 0);
    step.ends_block = true;
    step.is_new = block_is_new_;
    step.is_idle = id % 2 == 0 || id > last_id;
    step.was_skipped = block_was_skipped_;
    step.block_ends_stream = block_ends_;
    const auto lines = inflater_.decode(std::exchange(block_, {}));
    step.is_well_formed = lines.has_value();
    if (lines) step.lines = *lines;
    if (step.is_new) last_id = id;
    if (step.is_new) said[id] = {};
    if (const auto known = said.find(id); known != said.end() && block_ends_) {
      known->second.ended = true;
    }
  }
  void follow_data(const Step& step) {
    const auto known = said.find(step.header.stream_id);
    const auto content = content_of(step, false);
    if (known == said.end() || !content) return;
    if (!known->second.ended) known->second.body += *content;
    if (step.header.has(http2::flag::kEndStream)) known->second.ended = true;
  }

  test::Nghttp2Deflater deflater_{4096};
  test::Nghttp2Inflater inflater_;
  std::string block_;
  std::uint32_t block_id_ = 0;
  bool block_ends_ = false;
  bool block_is_new_ = false;
  bool block_was_skipped_ = false;
  bool depends_on_itself_ = false;
  bool is_first_settings_ = true;
};

// ---- Field lines, good ones and bad ones.

inline constexpr auto kRequests =
    std::to_array<std::string_view>({"GET", "POST", "HEAD", "OPTIONS", "CONNECT", "PUT"});

struct TextPair {
  std::string_view name;
  std::string_view value;
};

inline constexpr auto kPseudo = std::to_array<TextPair>({
    {":path", "*"},
    {":path", "a"},
    {":path", ""},
    {":path", "/a?b=%41"},
    {":path", "/\x80"},
    {":path", "/a b"},
    {":path", "/#"},
    {":path", "/%"},
    {":scheme", "https"},
    {":scheme", "HTTP"},
    {":scheme", "ftp"},
    {":scheme", ""},
    {":authority", ""},
    {":authority", "u@a"},
    {":authority", "a:443"},
    {":authority", "[::1]:80"},
    {":authority", "a:b"},
    {":authority", "a b"},
    {":method", "get"},
    {":method", ""},
    {":method", "A B"},
    {":method", "CONNECT"},
    {":protocol", "websocket"},
    {":protocol", "h2c"},
    {":protocol", ""},
    {":status", "200"},
    {":x", "y"},
    {":", "y"},
    {":path", " /"},
    {":authority", "A"},
});

inline constexpr auto kFields = std::to_array<TextPair>({
    {"content-length", "0"},
    {"content-length", "5"},
    {"content-length", "300"},
    {"content-length", "-1"},
    {"content-length", "9223372036854775807"},
    {"content-length", "9223372036854775808"},
    {"content-length", "00000000000000000000005"},
    {"content-length", ""},
    {"host", "a"},
    {"host", "A:80"},
    {"host", "b"},
    {"host", ""},
    {"cookie", "a=b"},
    {"cookie", "c=d"},
    {"cookie", ""},
    {"te", "trailers"},
    {"te", "Trailers"},
    {"te", "gzip"},
    {"expect", "100-continue"},
    {"expect", "x"},
    {"connection", "close"},
    {"keep-alive", "1"},
    {"proxy-connection", "x"},
    {"upgrade", "h2c"},
    {"transfer-encoding", "chunked"},
    {"http2-settings", "x"},
    {"X-Upper", "x"},
    {"", "x"},
    {"a b", "x"},
    {"a:b", "x"},
    {"x-any", " x"},
    {"x-any", "x\t"},
    {"x-any", "a\x01"},
    {"x-any", "a\x7f"},
    {"x-any", "a\xff"},
    {"x-any", "a\nb"},
    {"x-any", ""},
    {"priority", "u=1, i"},
    {"authorization", "x"},
    {"accept", "*/*"},
    {"x-any", "a\tb"},
    {"sec-websocket-key", "x"},
});

// A list that is right but for what the script changes about it.
inline test::FieldLines request_lines(Script& script) {
  const std::uint8_t kind = script.number();
  const std::string_view method = kRequests[kind % kRequests.size()];
  test::FieldLines lines = {{":method", std::string(method)}};
  if (method != "CONNECT" || kind >= 128) {
    lines.push_back({":scheme", "http"});
    lines.push_back({":path", "/"});
  }
  lines.push_back({":authority", method == "CONNECT" ? "a:443" : "a"});
  if (method == "CONNECT" && kind >= 128) lines.push_back({":protocol", "websocket"});
  return lines;
}

inline void change_lines(Script& script, test::FieldLines& lines) {
  for (std::uint8_t changes = script.number() % 8; changes > 0; --changes) {
    const std::uint8_t what = script.number();
    const std::uint8_t which = script.number();
    switch (what % 8) {
      case 0:  // One is missing.
        if (!lines.empty()) lines.erase(lines.begin() + which % lines.size());
        break;
      case 1: {  // Another pseudo-field, in place of the first of its name if there is one.
        const TextPair& pair = kPseudo[which % kPseudo.size()];
        const auto old = std::ranges::find(lines, pair.name, &test::FieldLine::name);
        if (old != lines.end() && what < 192) {
          old->value = pair.value;
        } else {
          lines.insert(lines.begin(), {std::string(pair.name), std::string(pair.value)});
        }
        break;
      }
      case 2: {
        const std::string name(script.take(which % 8));
        lines.push_back({name, std::string(script.take(which / 8 % 16))});
        break;
      }
      case 3:  // The same twice, perhaps in a wrong place.
        if (!lines.empty()) lines.push_back(test::FieldLine(lines[which % lines.size()]));
        break;
      case 4:
        if (!lines.empty()) lines[which % lines.size()].value = script.take(what / 8);
        break;
      default: {
        const TextPair& pair = kFields[which % kFields.size()];
        lines.push_back({std::string(pair.name), std::string(pair.value)});
      }
    }
  }
}

}  // namespace titanium::fuzz
