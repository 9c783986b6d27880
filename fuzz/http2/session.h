// SPDX-License-Identifier: MIT
//
// What the two session targets share: an owner that does something with every event, and a judge
// that reads what both sides say.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../http1/property.h"
#include "http2/connection.h"

namespace titanium::fuzz {

using http2::Connection;
using http2::FrameHeader;
using http2::FrameType;
using http2::Role;

struct FuzzStream final : http2::Stream {
  explicit FuzzStream(ChunkPool& pool) : Stream(pool) {}
  http::RequestHead request;
  http::ResponseHead response;
};

// Decisions that the input makes. Never runs out of them.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}
  std::size_t number() {
    const std::size_t value = bytes_[at_ % bytes_.size()] + at_ / bytes_.size();
    ++at_;
    return value & 0xff;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

// Cuts bytes into frames; what is incomplete waits.
class Frames {
 public:
  template <typename Visit>
  void read(std::string_view bytes, Visit visit) {
    rest_ += bytes;
    std::size_t at = 0;
    while (rest_.size() - at >= http2::kFrameHeaderBytes) {
      const FrameHeader header = http2::decode_frame_header(
          std::span<const std::uint8_t, 9>(as_bytes(rest_).data() + at, 9));
      if (rest_.size() - at - 9 < header.length) break;
      visit(header, std::string_view(rest_).substr(at + 9, header.length));
      at += 9 + header.length;
    }
    rest_.erase(0, at);
  }
  [[nodiscard]] bool is_at_boundary() const { return rest_.empty(); }

 private:
  std::string rest_;
};

// Keeps the windows by what the peer said, and looks at each frame of ours.
class Judge {
 public:
  void peer_says(std::string_view bytes) {
    in_.read(bytes, [this](const FrameHeader& header, std::string_view payload) {
      if (header.type == static_cast<std::uint8_t>(FrameType::window_update)) {
        if (payload.size() == 4) window_of(header.stream_id) += u32(payload, 0) & 0x7fff'ffff;
      } else if (header.type == static_cast<std::uint8_t>(FrameType::settings)) {
        // For all streams, also those that have sent more already (RFC 9113 §6.9.2).
        for (; payload.size() >= 6; payload.remove_prefix(6)) {
          const bool is_window = payload[0] == 0 && payload[1] == 4;
          if (is_window) initial_ = u32(payload, 2);
        }
      }
    });
  }

  void we_say(std::string_view bytes) {
    out_.read(bytes, [this](const FrameHeader& header, std::string_view payload) {
      require(!goaway_for_error_);
      judge(header, payload);
    });
    require(out_.is_at_boundary());
  }
  [[nodiscard]] bool said_goaway_for_error() const { return goaway_for_error_; }
  // What we may still send on a stream.
  [[nodiscard]] std::int64_t window_left(std::uint32_t id) {
    return std::min(initial_ + window_of(id) - sent_[id],
                    http2::kDefaultWindow + window_of(0) - sent_[0]);
  }

 private:
  static std::uint32_t u32(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<std::uint8_t>(text[at + i]);
    }
    return value;
  }
  std::int64_t& window_of(std::uint32_t id) { return windows_[id]; }

  void judge(const FrameHeader& header, std::string_view payload) {
    const auto type = static_cast<FrameType>(header.type);
    require(block_of_ == 0 || (type == FrameType::continuation && header.stream_id == block_of_));
    require(header.length <= http2::kLargestFrameBytes);
    const std::uint32_t id = header.stream_id;
    switch (type) {
      case FrameType::data:
        require(id != 0 && header.length <= http2::kDefaultFrameBytes && !ended_[id]);
        sent_[id] += header.length;
        sent_[0] += header.length;
        require(header.length == 0 || sent_[id] <= initial_ + window_of(id));
        require(sent_[0] <= http2::kDefaultWindow + window_of(0));
        ended_[id] = header.has(http2::flag::kEndStream);
        return;
      case FrameType::headers:
        require(id != 0 && id % 2 == 1 && !ended_[id]);
        ends_ = header.has(http2::flag::kEndStream);
        [[fallthrough]];
      case FrameType::continuation:
        block_ += payload;
        block_of_ = header.has(http2::flag::kEndHeaders) ? 0 : id;
        if (block_of_ == 0) judge_block(id);
        return;
      case FrameType::rst_stream:
        require(id != 0 && header.length == 4);
        ended_[id] = true;
        return;
      case FrameType::settings:
        require(id == 0 && header.length % 6 == 0);
        return;
      case FrameType::ping:
        require(id == 0 && header.length == 8 && header.has(http2::flag::kAck));
        return;
      case FrameType::goaway:
        require(id == 0 && header.length >= 8);
        goaway_for_error_ = u32(payload, 4) != 0;
        return;
      case FrameType::window_update:
        require(header.length == 4 && u32(payload, 0) > 0 && u32(payload, 0) <= 0x7fff'ffff);
        return;
      default:
        require(false);
    }
  }
  void judge_block(std::uint32_t id) {
    http2::FieldBlock fields;
    require(decoder_.decode(block_, {}, Side::self, fields).has_value());
    block_.clear();
    ended_[id] = ends_;
  }

  Frames in_;
  Frames out_;
  std::map<std::uint32_t, std::int64_t> windows_;  // Beyond the initial one; 0: the connection.
  std::map<std::uint32_t, std::int64_t> sent_;
  std::map<std::uint32_t, bool> ended_;
  std::int64_t initial_ = http2::kDefaultWindow;
  http2::HpackDecoder decoder_{1U << 20};
  std::string block_;
  std::uint32_t block_of_ = 0;
  bool ends_ = false;
  bool goaway_for_error_ = false;
};

// Answers requests, sends bodies back, resets now and then; all by what the input says.
class Owner final : public http2::ConnectionHandler {
 public:
  Owner(Role role, Choices& choices, const http2::Options& options)
      : role_(role),
        choices_(choices),
        connection_(role, options, pool_, *this, Connection::TimePoint{std::chrono::hours(1)}) {}
  ~Owner() {
    for (auto& stream : streams_) connection_.reset(stream, http2::ErrorCode::cancel);
  }

  void open() {
    if (!connection_.can_open()) return;
    http::RequestHead head;
    head.method = http::Method::post;
    head.method_text = "POST";
    head.scheme = "http";
    head.authority = "a";
    head.path = "/";
    const std::size_t kind = choices_.number();
    if (kind % 2 == 0) head.body = {.kind = http::BodyKind::streamed};
    if (kind % 5 == 4) head.upgrade = "websocket";
    FuzzStream& stream = streams_.emplace_back(pool_);
    connection_.send_request(stream, head);
    if (kind % 2 == 0) send(stream, kind * 97);
    if (kind % 3 == 0) connection_.send_end(stream, {});
  }

  void hear_preface() { require(receive(http2::kPreface).has_value()); }

  // One read of the peer's bytes, then one write of ours.
  void turn(std::string_view bytes) {
    judge_.peer_says(bytes);
    const bool had_failed = failed_;
    const auto result = receive(bytes);
    if (!result) failed_ = true;
    require(!had_failed || result.has_value());
    write();
    if (failed_) require(judge_.said_goaway_for_error() && !connection_.has_output());
  }
  void write() {
    ChunkQueue out(pool_);
    while (connection_.produce(out, 1 + choices_.number() * 256)) {
      require(!out.empty());
      say(out);
    }
    say(out);
  }

  http2::Stream* on_new_stream() override {
    if (choices_.number() % 16 == 15) return nullptr;
    return &streams_.emplace_back(pool_);
  }
  http::RequestHead& request_of(http2::Stream& s) override {
    return static_cast<FuzzStream&>(s).request;
  }
  http::ResponseHead& response_of(http2::Stream& s) override {
    return static_cast<FuzzStream&>(s).response;
  }
  void on_request(http2::Stream& s, bool ended) override {
    look_at(static_cast<FuzzStream&>(s).request.fields);
    require(s.id() % 2 == 1);
    switch (choices_.number() % 8) {
      case 0:
        return connection_.reset(s, http2::ErrorCode::cancel);
      case 1:
        return answer(s, 204, {});
      case 2:
        answer(s, 103, {});
        return answer(s, 200, {.kind = http::BodyKind::sized, .bytes = 0});
      default:
        answer(s, s.is_upgrade() ? 101 : 200,
               {.kind = s.is_upgrade() ? http::BodyKind::tunnel : http::BodyKind::streamed});
        if (ended) connection_.send_end(s, {});
    }
  }
  void on_refused_request(http2::Stream& s, const Error& error) override {
    require(error.status == 431 || error.status == 417);
    answer(s, error.status, {.kind = http::BodyKind::sized, .bytes = 0});
  }
  void on_response(http2::Stream& s, bool) override {
    look_at(static_cast<FuzzStream&>(s).response.fields);
    if (choices_.number() % 16 == 0) connection_.reset(s, http2::ErrorCode::cancel);
  }
  void on_data(http2::Stream& s, ChunkQueue& data) override {
    const std::size_t bytes = data.size();
    require(bytes > 0);
    if (role_ == Role::client) data.clear();
    connection_.send_data(s, data);
    if (choices_.number() % 4 != 0) connection_.consumed(s, bytes);
    if (choices_.number() % 8 == 1) connection_.reset(s, http2::ErrorCode::cancel);
  }
  void on_end(http2::Stream& s, const http::FieldList& trailers) override {
    look_at(trailers);
    connection_.send_end(s, trailers);
  }
  void on_stream_writable(http2::Stream& s) override {
    if (choices_.number() % 2 == 0) send(s, 100);
  }
  void on_closed(http2::Stream& s) override { require(s.id() == 0); }
  void on_reset(http2::Stream& s, const Error& error) override {
    require(s.id() == 0 && error.side != Side::self);
    if (role_ == Role::client && choices_.number() % 2 == 0) open();
  }
  void on_goaway() override {}

 private:
  Result<> receive(std::string_view bytes) {
    ChunkRef chunk(pool_.take_large(bytes.size()));
    std::memcpy(chunk->data(), bytes.data(), bytes.size());
    return connection_.receive(
        {.chunk = chunk, .begin = 0, .end = static_cast<std::uint32_t>(bytes.size())},
        Connection::TimePoint{std::chrono::hours(1)});
  }
  // Strings are what the heads' views promise (AddressSanitizer looks), and clean.
  static void look_at(const http::FieldList& fields) {
    for (const http::Field& field : fields) {
      require(http::is_token(field.name) && http::is_field_value(field.value));
    }
  }
  void answer(http2::Stream& s, std::uint16_t status, http::BodySize body) {
    http::ResponseHead head;
    head.status = status;
    head.body = body;
    head.fields.add("server", "fuzz");
    connection_.send_response(s, head);
  }
  void send(http2::Stream& s, std::size_t bytes) {
    ChunkQueue body(pool_);
    body.append(std::string(bytes, 'x'));
    connection_.send_data(s, body);
  }
  void say(ChunkQueue& out) {
    std::vector<char> scratch;
    std::string_view text = out.peek_contiguous(scratch);
    if (role_ == Role::client && !preface_said_) {
      require(text.starts_with(http2::kPreface));
      text.remove_prefix(http2::kPreface.size());
      preface_said_ = true;
    }
    judge_.we_say(text);
    out.clear();
  }

  ChunkPool pool_;
  Role role_;
  Choices& choices_;
  Judge judge_;
  std::deque<FuzzStream> streams_;
  bool failed_ = false;
  bool preface_said_ = false;
  Connection connection_;
};

// Feeds `peer` in cuts that the input chooses.
inline void converse(Owner& owner, Choices& choices, std::string_view peer) {
  while (!peer.empty()) {
    const std::size_t cut = choices.number();
    const std::string_view part = peer.substr(0, cut >= 200 ? peer.size() : cut + 1);
    peer.remove_prefix(part.size());
    owner.turn(part);
  }
}

// Small limits, so that inputs of a fuzzer's size reach them.
inline http2::Options fuzz_options() {
  return {.concurrent_streams = 8,
          .stream_window_bytes = 2'000,
          .connection_window_bytes = 70'000,
          .fields = {.list_bytes = 1'000, .fields = 20},
          .trailers = {.list_bytes = 300, .fields = 4},
          .header_block_bytes = 2'000,
          .header_block_frames = 6,
          .incomplete_resets = 12};
}

}  // namespace titanium::fuzz
