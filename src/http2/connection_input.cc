// SPDX-License-Identifier: MIT
//
// From bytes to frames (RFC 9113 §4), and DATA (§6.1), whose payload is never collected.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/try.h"
#include "http2/connection.h"

namespace titanium::http2 {
namespace {

// What we owe a peer in answers (PING, SETTINGS, resets) while it does not read what we say.
constexpr std::size_t kMostReplyBytes = 64 * 1024;

constexpr FrameType type_of(const FrameHeader& frame) { return static_cast<FrameType>(frame.type); }

Bytes take(Bytes& rest, std::size_t bytes) {
  const Bytes front = rest.first(std::min(bytes, rest.size()));
  rest = rest.subspan(front.size());
  return front;
}

// The part of `input` that `bytes`, a view into it, covers.
Slice slice_of(const Slice& input, Bytes bytes) {
  const auto begin = static_cast<std::uint32_t>(bytes.data() - input.chunk->data());
  return {.chunk = input.chunk,
          .begin = begin,
          .end = begin + static_cast<std::uint32_t>(bytes.size())};
}

}  // namespace

Result<> Connection::receive(Slice input, TimePoint now) {
  if (failed_ || input.size() == 0) return {};
  now_ = now;
  Bytes rest = input.bytes();
  while (!rest.empty()) TI_TRY(read(input, rest));
  return {};
}

Result<> Connection::read(const Slice& input, Bytes& rest) {
  switch (reading_) {
    case Reading::preface:
      return read_preface(rest);
    case Reading::frame_header:
      return read_frame_header(rest);
    case Reading::payload:
      return read_payload(rest);
    case Reading::data:
      return read_data(input, rest);
    case Reading::skipped:
      payload_left_ -= static_cast<std::uint32_t>(take(rest, payload_left_).size());
      if (payload_left_ == 0) reading_ = Reading::frame_header;
      return {};
  }
  return {};
}

Result<> Connection::read_preface(Bytes& rest) {
  const Bytes piece = take(rest, kPreface.size() - header_seen_);
  if (kPreface.substr(header_seen_, piece.size()) != as_text(piece)) {
    return fail(ErrorCode::protocol_error, "bad connection preface");
  }
  header_seen_ = static_cast<std::uint8_t>(header_seen_ + piece.size());
  if (header_seen_ == kPreface.size()) {
    header_seen_ = 0;
    reading_ = Reading::frame_header;
  }
  return {};
}

Result<> Connection::read_frame_header(Bytes& rest) {
  if (header_seen_ == 0 && rest.size() >= kFrameHeaderBytes) {
    frame_ = decode_frame_header(take(rest, kFrameHeaderBytes).first<kFrameHeaderBytes>());
    return begin_frame();
  }
  const Bytes piece = take(rest, kFrameHeaderBytes - header_seen_);
  std::ranges::copy(piece, header_bytes_.begin() + header_seen_);
  header_seen_ = static_cast<std::uint8_t>(header_seen_ + piece.size());
  if (header_seen_ < kFrameHeaderBytes) return {};
  header_seen_ = 0;
  frame_ = decode_frame_header(header_bytes_);
  return begin_frame();
}

// Everything that can be said before the payload is here, so that a bad frame is never collected.
Result<> Connection::begin_frame() {
  if (reply_bytes_ > kMostReplyBytes) {
    return fail(ErrorCode::enhance_your_calm, "the peer does not read what it asked for");
  }
  if (frame_.length > kDefaultFrameBytes) {
    return fail(ErrorCode::frame_size_error, "frame exceeds SETTINGS_MAX_FRAME_SIZE");
  }
  TI_TRY(check_frame_order());
  TI_TRY(check_stream_id());
  payload_left_ = frame_.length;
  reading_ = Reading::payload;
  if (type_of(frame_) == FrameType::headers) block_.deadline = now_ + options_.header_block_time;
  TI_TRY(check_frame_size());
  if (type_of(frame_) == FrameType::data) TI_TRY(begin_data());
  if (reading_ == Reading::payload && payload_left_ == 0) {
    reading_ = Reading::frame_header;
    return on_frame({});
  }
  if (payload_left_ == 0) reading_ = Reading::frame_header;
  return {};
}

Result<> Connection::check_frame_order() {
  const FrameType type = type_of(frame_);
  // RFC 9113 §6.10: nothing may come between the frames of a field block.
  if (block_.stream_id != 0) {
    if (type != FrameType::continuation || frame_.stream_id != block_.stream_id) {
      return fail(ErrorCode::protocol_error, "field block is interrupted by another frame");
    }
    return {};
  }
  if (type == FrameType::continuation) {
    return fail(ErrorCode::protocol_error, "CONTINUATION without a field block");
  }
  // §3.4: SETTINGS are the first frame of both sides.
  if (!peer_.received && (type != FrameType::settings || frame_.has(flag::kAck))) {
    return fail(ErrorCode::protocol_error, "the first frame is not SETTINGS");
  }
  return {};
}

Result<> Connection::check_stream_id() {
  switch (type_of(frame_)) {
    case FrameType::data:
    case FrameType::headers:
    case FrameType::priority:
    case FrameType::rst_stream:
      if (frame_.stream_id == 0) return fail(ErrorCode::protocol_error, "frame without a stream");
      return {};
    case FrameType::settings:
    case FrameType::ping:
    case FrameType::goaway:
    case FrameType::priority_update:
      if (frame_.stream_id != 0) return fail(ErrorCode::protocol_error, "frame of a stream");
      return {};
    case FrameType::push_promise:
      // §8.4: clients never send it; servers must not, as our SETTINGS forbid it.
      return fail(ErrorCode::protocol_error, "PUSH_PROMISE is not allowed");
    case FrameType::window_update:
    case FrameType::continuation:
      return {};
  }
  return {};
}

Result<> Connection::check_frame_size() {
  bool good = true;
  switch (type_of(frame_)) {
    case FrameType::priority:
      if (frame_.length == 5) return {};
      reading_ = Reading::skipped;
      return on_priority_of_wrong_size();
    case FrameType::rst_stream:
    case FrameType::window_update:
      good = frame_.length == 4;
      break;
    case FrameType::settings:
      good = frame_.length % 6 == 0 && (frame_.length == 0 || !frame_.has(flag::kAck));
      break;
    case FrameType::ping:
      good = frame_.length == 8;
      break;
    case FrameType::goaway:
      good = frame_.length >= 8;
      break;
    case FrameType::priority_update:
      good = frame_.length >= 4;
      break;
    case FrameType::data:
    case FrameType::headers:
    case FrameType::push_promise:
    case FrameType::continuation:
      return {};
    default:
      reading_ = Reading::skipped;
      return on_frame_without_effect();
  }
  if (good) return {};
  return fail(ErrorCode::frame_size_error, "frame of a wrong size");
}

// A stream error (§6.3), also on a stream that has ended: that may have happened a moment ago. Only
// where there is no stream that could be reset it is one of the connection.
Result<> Connection::on_priority_of_wrong_size() {
  const std::uint32_t id = frame_.stream_id;
  if (Stream* stream = table_.find(id)) {
    return stream_error(*stream, ErrorCode::frame_size_error, "PRIORITY of a wrong size");
  }
  if (is_idle(id)) return fail(ErrorCode::frame_size_error, "PRIORITY of a wrong size");
  if (closed_.fate_of(id) == ClosedStreams::Fate::reset_by_us) return {};
  return reset_unknown(id, ErrorCode::frame_size_error);
}

Result<> Connection::read_payload(Bytes& rest) {
  const Bytes piece = take(rest, payload_left_);
  payload_left_ -= static_cast<std::uint32_t>(piece.size());
  if (payload_left_ > 0 || !partial_.empty()) partial_.append(piece);
  if (payload_left_ > 0) return {};
  reading_ = Reading::frame_header;
  if (partial_.empty()) return on_frame(piece);
  TI_TRY(on_frame(partial_.bytes()));
  partial_.clear();
  return {};
}

Result<> Connection::on_frame(Bytes payload) {
  switch (type_of(frame_)) {
    case FrameType::headers:
      return on_headers(payload);
    case FrameType::continuation:
      return on_continuation(payload);
    case FrameType::priority:
      return on_priority(payload);
    case FrameType::rst_stream:
      return on_rst_stream(payload);
    case FrameType::settings:
      return frame_.has(flag::kAck) ? on_settings_ack() : on_settings(payload);
    case FrameType::ping:
      return on_ping(payload);
    case FrameType::goaway:
      return on_goaway(payload);
    case FrameType::window_update:
      return on_window_update(payload);
    case FrameType::priority_update:
      return on_priority_update(payload);
    case FrameType::data:
    case FrameType::push_promise:
      break;  // Dealt with before their payload.
  }
  return {};
}

Result<> Connection::begin_data() {
  const std::uint32_t id = frame_.stream_id;
  reading_ = Reading::data;
  padding_left_ = 0;
  pad_length_known_ = !frame_.has(flag::kPadded);
  data_is_empty_ = true;
  if (!pad_length_known_ && frame_.length == 0) {
    return fail(ErrorCode::frame_size_error, "DATA without its pad length");
  }
  if (is_idle(id)) return fail(ErrorCode::protocol_error, "DATA on an idle stream");
  if (!receive_window_.admits(frame_.length)) {
    return fail(ErrorCode::flow_control_error, "DATA exceeds the window of the connection");
  }
  if (Stream* stream = table_.find(id)) {
    TI_TRY(check_data(*stream));
  } else if (closed_.fate_of(id) != ClosedStreams::Fate::reset_by_us) {
    TI_TRY(reset_unknown(id, ErrorCode::stream_closed));
  }
  return payload_left_ == 0 ? end_data() : Result<>{};
}

// Whether the stream may get DATA now. If not, it is reset, and the payload is dropped.
Result<> Connection::check_data(Stream& stream) {
  if (!next_state(stream.state_, Event::recv_end_stream)) {  // The peer has sent END_STREAM.
    return stream_error(stream, ErrorCode::stream_closed, "DATA after the end of the stream");
  }
  if (!stream.head_received_) {
    return stream_error(stream, ErrorCode::protocol_error, "DATA before the head");
  }
  if (!stream.receive_window_.admits(frame_.length)) {
    return stream_error(stream, ErrorCode::flow_control_error,
                        "DATA exceeds the window of the stream");
  }
  return {};
}

Result<> Connection::read_data(const Slice& input, Bytes& rest) {
  if (!pad_length_known_) {
    padding_left_ = take(rest, 1).front();
    pad_length_known_ = true;
    --payload_left_;
    drop_data(1);
    if (padding_left_ > payload_left_) {
      return fail(ErrorCode::protocol_error, "padding exceeds its frame");
    }
  }
  if (const Bytes body = take(rest, payload_left_ - padding_left_); !body.empty()) {
    payload_left_ -= static_cast<std::uint32_t>(body.size());
    TI_TRY(deliver_data(slice_of(input, body)));
  }
  if (payload_left_ == padding_left_) {
    const Bytes padding = take(rest, padding_left_);
    padding_left_ -= static_cast<std::uint32_t>(padding.size());
    payload_left_ -= static_cast<std::uint32_t>(padding.size());
    drop_data(padding.size());
  }
  return payload_left_ == 0 ? end_data() : Result<>{};
}

// Bytes that count for flow control and mean nothing: padding, and DATA that nobody waits for.
void Connection::drop_data(std::size_t bytes) {
  if (bytes == 0) return;
  receive_window_.receive_unwanted(bytes);
  Stream* stream = table_.find(frame_.stream_id);
  if (stream == nullptr) return;
  stream->receive_window_.receive_unwanted(bytes);
  note_window_due(*stream);
}

Result<> Connection::deliver_data(Slice piece) {
  data_is_empty_ = false;
  const std::size_t bytes = piece.size();
  Stream* stream = table_.find(frame_.stream_id);
  if (stream == nullptr || stream->discards_) {
    drop_data(bytes);
    return {};
  }
  stream->received_bytes_ += bytes;
  if (stream->declared_bytes_.value_or(stream->received_bytes_) < stream->received_bytes_) {
    drop_data(bytes);
    return stream_error(*stream, ErrorCode::protocol_error, "body is longer than content-length");
  }
  receive_window_.receive(bytes);
  stream->receive_window_.receive(bytes);
  piece_.push(std::move(piece));
  handler_.on_data(*stream, piece_);
  TI_ASSERT(piece_.empty());
  piece_.clear();
  if (stream->receive_window_.waiting() > 0) stream->window_held_ = true;
  return {};
}

Result<> Connection::end_data() {
  reading_ = Reading::frame_header;
  if (!frame_.has(flag::kEndStream)) {
    if (!data_is_empty_) return {};
    return spend(empty_frames_, counters_.empty_frames, "too many empty frames");
  }
  Stream* stream = table_.find(frame_.stream_id);
  if (stream == nullptr) return {};
  trailers_.clear();
  return on_peer_end(*stream, trailers_);
}

}  // namespace titanium::http2
