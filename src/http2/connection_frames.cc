// SPDX-License-Identifier: MIT
//
// What the small frames mean (RFC 9113 §6.3-§6.9, RFC 9218 §7).
#include <utility>

#include "base/try.h"
#include "http2/connection.h"

namespace titanium::http2 {
namespace {

std::uint32_t u32_at(Bytes bytes, std::size_t at) {
  return (std::uint32_t{bytes[at]} << 24) | (std::uint32_t{bytes[at + 1]} << 16) |
         (std::uint32_t{bytes[at + 2]} << 8) | bytes[at + 3];
}
// With the reserved bit, which is to be ignored, taken away.
std::uint32_t u31_at(Bytes bytes, std::size_t at) { return u32_at(bytes, at) & 0x7fff'ffff; }

// What a peer's RST_STREAM means for the request.
Error reset_error(std::uint32_t code, Side peer) {
  const bool refused = code == std::to_underlying(ErrorCode::refused_stream);
  return {.code = refused ? Code::refused : Code::reset,
          .side = peer,
          // RFC 9113 §8.7: nothing of it was processed.
          .retry = refused ? Retry::always : Retry::never,
          .native = static_cast<std::int32_t>(code),
          .what = refused ? "the peer refused the stream" : "the peer reset the stream"};
}

}  // namespace

// The tree of RFC 7540 is gone (RFC 9113 §5.3); what is left is a rule, and its cost.
Result<> Connection::on_priority(Bytes payload) {
  TI_TRY(spend(priority_frames_, counters_.priority_frames, "too many PRIORITY frames"));
  if (u31_at(payload, 0) != frame_.stream_id) return {};
  if (Stream* stream = table_.find(frame_.stream_id)) {
    return stream_error(*stream, ErrorCode::protocol_error, "stream depends on itself");
  }
  // RST_STREAM may not name an idle stream (§6.4), so that the whole connection has to go.
  if (is_idle(frame_.stream_id)) {
    return fail(ErrorCode::protocol_error, "idle stream depends on itself");
  }
  return {};
}

Result<> Connection::on_priority_update(Bytes payload) {
  if (role_ == Role::client) {
    return fail(ErrorCode::protocol_error, "PRIORITY_UPDATE from a server");
  }
  TI_TRY(spend(priority_frames_, counters_.priority_frames, "too many PRIORITY_UPDATE frames"));
  const std::uint32_t id = u31_at(payload, 0);
  if (id % 2 == 0) return fail(ErrorCode::protocol_error, "PRIORITY_UPDATE of no request");
  // For a stream to come it is dropped, as RFC 9218 §7.1 allows: clients send it along with the
  // request, whose own field says the same.
  if (Stream* stream = table_.find(id)) {
    scheduler_.set_priority(*stream, parse_priority(as_text(payload.subspan(4))));
  }
  return {};
}

Result<> Connection::on_rst_stream(Bytes payload) {
  if (is_idle(frame_.stream_id)) {
    return fail(ErrorCode::protocol_error, "RST_STREAM on an idle stream");
  }
  Stream* stream = table_.find(frame_.stream_id);
  if (stream == nullptr) return on_frame_without_effect();
  ++counters_.resets_received;
  closed_.remember_reset(frame_.stream_id, false);
  const bool answered =
      stream->state_ == State::half_closed_local && !stream->ListLink<LastInQueue>::is_linked();
  detach(*stream);
  handler_.on_reset(*stream, reset_error(u32_at(payload, 0), peer_side()));
  return answered ? Result<>{} : count_incomplete_reset();
}

Result<> Connection::on_settings(Bytes payload) {
  TI_TRY(spend(settings_frames_, counters_.settings, "too many SETTINGS frames"));
  const PeerSettings before = peer_;
  if (const auto fault = apply_settings(payload, role_, peer_)) {
    return fail(fault->code, fault->what);
  }
  if (peer_.header_table_bytes != before.header_table_bytes) {
    encoder_.set_peer_table_bytes(peer_.header_table_bytes);
  }
  TI_TRY(apply_initial_window(before.initial_window));
  write_settings_ack(control_);
  reply_bytes_ += kFrameHeaderBytes;
  return {};
}

// RFC 9113 §6.9.2: the difference goes to every open stream.
Result<> Connection::apply_initial_window(std::uint32_t before) {
  const std::int64_t change = std::int64_t{peer_.initial_window} - std::int64_t{before};
  if (change == 0) return {};
  bool fits = true;
  streams_.for_each([&](Stream& stream) {
    fits = stream.send_window_.add(change) && fits;
    schedule(stream);
  });
  if (fits) return {};
  return fail(ErrorCode::flow_control_error, "INITIAL_WINDOW_SIZE overflows a window");
}

Result<> Connection::on_settings_ack() {
  if (!ack_deadline_) return on_frame_without_effect();
  ack_deadline_.reset();
  round_trip_ = now_ - began_;
  // A smaller window than the protocol's own holds from now on, also for streams that are open.
  if (options_.stream_window_bytes >= kDefaultWindow) return {};
  const std::uint32_t less = kDefaultWindow - options_.stream_window_bytes;
  streams_.for_each([&](Stream& stream) {
    stream.receive_window_.shrink(less);
    note_window_due(stream);  // Bytes may have been consumed while the window was too large still.
  });
  return {};
}

Result<> Connection::on_ping(Bytes payload) {
  TI_TRY(spend(pings_, counters_.pings, "too many PING frames"));
  if (frame_.has(flag::kAck)) return {};  // We never ask.
  write_ping(control_, payload.first<8>(), true);
  reply_bytes_ += kFrameHeaderBytes + 8;
  return {};
}

Result<> Connection::on_goaway(Bytes payload) {
  if (goaway_received_) TI_TRY(on_frame_without_effect());
  const bool first = !std::exchange(goaway_received_, true);
  if (role_ == Role::client) TI_TRY(drop_unprocessed(u31_at(payload, 0)));
  if (first) handler_.on_goaway();
  return {};
}

// RFC 9113 §6.8: streams above `last_id` were not and will not be processed.
Result<> Connection::drop_unprocessed(std::uint32_t last_id) {
  if (last_id > goaway_limit_) {
    return fail(ErrorCode::protocol_error, "GOAWAY takes more streams than before");
  }
  goaway_limit_ = last_id;
  // The handler may end any stream, so they are taken aside first.
  IntrusiveList<Stream> dropped;
  streams_.for_each([&](Stream& stream) {
    if (stream.id_ <= last_id) return;
    stream.ListLink<Stream>::unlink();
    dropped.push_back(stream);
  });
  while (Stream* stream = dropped.front()) {
    detach(*stream);
    handler_.on_reset(*stream, {.code = Code::refused,
                                .side = peer_side(),
                                .retry = Retry::always,
                                .native = static_cast<std::int32_t>(ErrorCode::refused_stream),
                                .what = "the connection was closed before the request's turn"});
  }
  return {};
}

Result<> Connection::on_window_update(Bytes payload) {
  TI_TRY(spend(window_updates_, counters_.window_updates, "too many WINDOW_UPDATE frames"));
  const std::uint32_t increment = u31_at(payload, 0);
  const std::uint32_t id = frame_.stream_id;
  if (id == 0) {
    if (increment == 0) return fail(ErrorCode::protocol_error, "WINDOW_UPDATE by zero");
    if (send_window_.add(increment)) return {};
    return fail(ErrorCode::flow_control_error, "WINDOW_UPDATE overflows the window");
  }
  if (is_idle(id)) return fail(ErrorCode::protocol_error, "WINDOW_UPDATE on an idle stream");
  Stream* stream = table_.find(id);
  if (stream == nullptr) return {};  // The peer may not know yet (§5.1).
  if (increment == 0) {
    return stream_error(*stream, ErrorCode::protocol_error, "WINDOW_UPDATE by zero");
  }
  if (!stream->send_window_.add(increment)) {
    return stream_error(*stream, ErrorCode::flow_control_error,
                        "WINDOW_UPDATE overflows the window");
  }
  schedule(*stream);
  return {};
}

Result<> Connection::on_frame_without_effect() {
  return spend(unknown_frames_, counters_.unknown_frames, "too many frames without effect");
}

}  // namespace titanium::http2
