// SPDX-License-Identifier: MIT
//
// Field blocks (RFC 9113 §4.3, §6.2, §6.10, §8.1): from HEADERS and CONTINUATION to heads and
// trailers. Every block is decoded, also those that nobody wants: the tables of HPACK go on.
#include <algorithm>
#include <utility>

#include "base/try.h"
#include "http2/connection.h"
#include "http2/message.h"

namespace titanium::http2 {
namespace {

constexpr std::size_t kPriorityBytes = 5;

// A scratch block that was needed for more than this is given back.
constexpr std::size_t kKeptBlockBytes = 4 * 1024;

std::uint32_t dependency_of(Bytes priority) {
  return ((std::uint32_t{priority[0]} << 24) | (std::uint32_t{priority[1]} << 16) |
          (std::uint32_t{priority[2]} << 8) | priority[3]) &
         0x7fff'ffff;
}

// The priority field of RFC 9218 §5, if there is one.
const http::Field* find_priority(const http::FieldList& fields) {
  for (const http::Field& field : fields) {
    if (field.name == "priority") return &field;
  }
  return nullptr;
}

}  // namespace

Result<> Connection::on_headers(Bytes payload) {
  std::size_t padding = 0;
  if (frame_.has(flag::kPadded)) {
    if (payload.empty()) return fail(ErrorCode::frame_size_error, "HEADERS without its pad length");
    padding = payload[0];
    payload = payload.subspan(1);
  }
  block_.depends_on_itself = false;
  if (frame_.has(flag::kPriority)) {
    if (payload.size() < kPriorityBytes) {
      return fail(ErrorCode::frame_size_error, "HEADERS without its priority");
    }
    block_.depends_on_itself = dependency_of(payload) == frame_.stream_id;
    payload = payload.subspan(kPriorityBytes);
  }
  if (padding > payload.size()) {
    return fail(ErrorCode::protocol_error, "padding exceeds its frame");
  }
  block_.stream_id = frame_.stream_id;
  block_.end_stream = frame_.has(flag::kEndStream);
  block_.frames = 0;
  return on_fragment(payload.first(payload.size() - padding));
}

Result<> Connection::on_continuation(Bytes payload) {
  ++counters_.continuations;
  return on_fragment(payload);
}

Result<> Connection::on_fragment(Bytes fragment) {
  if (++block_.frames > options_.header_block_frames) {
    return fail(ErrorCode::enhance_your_calm,
                "field block has too many frames (limits.maxOpenHeaderBlockFrames)");
  }
  if (block_.bytes.size() + fragment.size() > options_.header_block_bytes) {
    return fail(ErrorCode::enhance_your_calm,
                "field block is too large (limits.maxHttp2CompressedHeaderBlockBytes)");
  }
  if (!frame_.has(flag::kEndHeaders)) {
    block_.bytes.append(fragment);
    if (!fragment.empty()) return {};
    return spend(empty_frames_, counters_.empty_frames, "too many empty frames");
  }
  block_.deadline.reset();
  const std::uint32_t id = std::exchange(block_.stream_id, 0);
  if (block_.bytes.empty()) return on_block(id, as_text(fragment));  // In place: the usual case.
  block_.bytes.append(fragment);
  TI_TRY(on_block(id, as_text(block_.bytes.bytes())));
  block_.bytes.clear();
  return {};
}

Result<> Connection::on_block(std::uint32_t id, std::string_view block) {
  if (Stream* stream = table_.find(id)) return on_block_of(*stream, block);
  if (!is_idle(id)) return on_block_of_closed(id, block);
  if (role_ == Role::client || id % 2 == 0) {
    return fail(ErrorCode::protocol_error, "HEADERS on a stream that the peer may not open");
  }
  return open_stream(id, block);
}

Result<> Connection::on_block_of(Stream& stream, std::string_view block) {
  if (!next_state(stream.state_, Event::recv_headers)) {  // The peer has sent END_STREAM.
    TI_TRY(ignore_block(block));
    return stream_error(stream, ErrorCode::stream_closed, "HEADERS after the end of the stream");
  }
  if (block_.depends_on_itself) {
    TI_TRY(ignore_block(block));
    return stream_error(stream, ErrorCode::protocol_error, "stream depends on itself");
  }
  return stream.head_received_ ? on_trailer_block(stream, block) : on_response_block(stream, block);
}

Result<> Connection::on_block_of_closed(std::uint32_t id, std::string_view block) {
  switch (closed_.fate_of(id)) {
    case ClosedStreams::Fate::reset_by_us:
      return ignore_block(block);
    case ClosedStreams::Fate::reset_by_peer:
      TI_TRY(ignore_block(block));
      return reset_unknown(id, ErrorCode::stream_closed);
    case ClosedStreams::Fate::never_used:
      // RFC 9113 §5.1.1: identifiers only go up.
      return fail(ErrorCode::protocol_error, "HEADERS with a lower stream id than before");
    case ClosedStreams::Fate::completed:
      return fail(ErrorCode::stream_closed, "HEADERS on a closed stream");
  }
  return {};
}

Result<> Connection::open_stream(std::uint32_t id, std::string_view block) {
  const std::uint32_t next = last_peer_id_ == 0 ? 1 : last_peer_id_ + 2;
  if (id > next) closed_.remember_gap(next, id);
  last_peer_id_ = id;
  if (goaway_sent_) return refuse_stream(id, block);
  if (table_.size() >= options_.concurrent_streams) {
    TI_TRY(refuse_stream(id, block));
    // Before it has seen our SETTINGS, the peer can not know the limit.
    return ack_deadline_ ? Result<>{} : count_incomplete_reset();
  }
  if (block_.depends_on_itself) {
    ++counters_.streams;
    TI_TRY(ignore_block(block));
    return reset_unknown(id, ErrorCode::protocol_error);
  }
  Stream* stream = handler_.on_new_stream();
  if (stream == nullptr) return refuse_stream(id, block);
  attach(*stream, id);
  last_accepted_id_ = id;
  return on_request_block(*stream, block);
}

Result<> Connection::refuse_stream(std::uint32_t id, std::string_view block) {
  ++counters_.streams;
  ++counters_.refused_streams;
  TI_TRY(ignore_block(block));
  closed_.remember_reset(id, true);
  write_reset(id, ErrorCode::refused_stream);
  reply_bytes_ += kFrameHeaderBytes + 4;
  return {};
}

Result<> Connection::on_request_block(Stream& stream, std::string_view block) {
  apply(stream, Event::recv_headers);
  stream.head_received_ = true;
  TI_TRY_ASSIGN(const bool over_limit, decode(block, options_.fields, stream.head_));
  http::RequestHead& head = handler_.request_of(stream);
  const Result<> read =
      read_request(stream.head_, block_.end_stream, options_.extended_connect, head);
  if (over_limit) {
    return on_refused_head(stream, limit_error("request head is too large "
                                               "(limits.maxDecodedHeaderListBytes, maxHeaderCount)",
                                               Side::client, 431)
                                       .error());
  }
  if (!read && read.error().code == Code::protocol) {
    return stream_error(stream, ErrorCode::protocol_error, read.error());
  }
  if (!read) return on_refused_head(stream, read.error());
  return on_request_head(stream, head);
}

Result<> Connection::on_request_head(Stream& stream, const http::RequestHead& head) {
  stream.upgrade_ = head.upgrade;
  if (head.body.kind == http::BodyKind::sized) stream.declared_bytes_ = head.body.bytes;
  if (const http::Field* field = find_priority(head.fields)) {
    scheduler_.set_priority(stream, parse_priority(field->value));
  }
  if (block_.end_stream) apply(stream, Event::recv_end_stream);
  handler_.on_request(stream, block_.end_stream);
  return {};
}

Result<> Connection::on_refused_head(Stream& stream, const Error& error) {
  stream.discards_ = true;
  if (block_.end_stream) apply(stream, Event::recv_end_stream);
  handler_.on_refused_request(stream, error);
  return {};
}

Result<> Connection::on_response_block(Stream& stream, std::string_view block) {
  apply(stream, Event::recv_headers);
  http::ResponseHead& head = handler_.response_of(stream);
  head.clear();
  stream.head_.clear();
  TI_TRY_ASSIGN(const bool over_limit, decode(block, options_.fields, stream.head_));
  if (over_limit) {
    return stream_error(stream, ErrorCode::cancel,
                        limit_error("response head is too large "
                                    "(limits.maxDecodedHeaderListBytes, maxHeaderCount)",
                                    Side::origin, 502)
                            .error());
  }
  const bool ended = block_.end_stream;
  const Result<> read =
      read_response(stream.head_, ended, stream.method_, stream.is_upgrade(), head);
  if (!read) return stream_error(stream, ErrorCode::protocol_error, read.error());
  if (head.is_interim()) {
    handler_.on_response(stream, false);
    return {};
  }
  stream.head_received_ = true;
  if (head.status == 101) head.upgrade = stream.upgrade_;
  if (head.body.kind == http::BodyKind::sized) stream.declared_bytes_ = head.body.bytes;
  if (head.body.kind == http::BodyKind::none) stream.declared_bytes_ = 0;
  if (ended) apply(stream, Event::recv_end_stream);
  const std::uint32_t id = stream.id_;
  handler_.on_response(stream, ended);
  if (ended && stream.id_ == id) close_if_done(stream);
  return {};
}

Result<> Connection::on_trailer_block(Stream& stream, std::string_view block) {
  scratch_block_.clear();
  TI_TRY_ASSIGN(const bool over_limit, decode(block, options_.trailers, scratch_block_));
  if (!block_.end_stream) {
    return stream_error(stream, ErrorCode::protocol_error, "trailers do not end the stream");
  }
  if (stream.discards_) {
    trailers_.clear();
    return on_peer_end(stream, trailers_);
  }
  if (over_limit) {
    return stream_error(stream, ErrorCode::cancel,
                        limit_error("trailers are too large (limits.maxTrailerHeaderBlockBytes, "
                                    "maxTrailerHeaderCount)",
                                    peer_side(), role_ == Role::server ? 431 : 502)
                            .error());
  }
  const Result<> read = read_trailers(scratch_block_, peer_side(), trailers_);
  if (!read) return stream_error(stream, ErrorCode::protocol_error, read.error());
  return on_peer_end(stream, trailers_);
}

Result<> Connection::ignore_block(std::string_view block) {
  scratch_block_.clear();
  TI_TRY(decode(block, options_.fields, scratch_block_));
  if (scratch_block_.list_bytes() > kKeptBlockBytes) scratch_block_ = FieldBlock{};
  return {};
}

// True: the block is over the limits, and `out` holds what fitted.
Result<bool> Connection::decode(std::string_view block, const DecodeLimits& limits,
                                FieldBlock& out) {
  const auto outcome = decoder_.decode(block, limits, peer_side(), out);
  if (!outcome) return fail(ErrorCode::compression_error, outcome.error().what);
  return outcome->over_limit;
}

}  // namespace titanium::http2
