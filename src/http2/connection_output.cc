// SPDX-License-Identifier: MIT
//
// Commands, and the bytes that they become.
//
// All frames but DATA wait in control_, in the order of the calls, which is the order in which
// HPACK encoded them. DATA waits in the streams, and is written only when control_ is out: so no
// body overtakes its head, and no trailer a block that was encoded before it.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "http2/connection.h"
#include "http2/message.h"

namespace titanium::http2 {
namespace {

// One stream's turn, and the largest DATA frame: whatever the peer allows, the others wait.
constexpr std::size_t kTurnBytes = kDefaultFrameBytes;

// A DATA frame smaller than this because of the peer's window is the peer's doing, and gives no
// reason for more WINDOW_UPDATEs (CVE-2019-9511: a window that opens a byte at a time).
constexpr std::size_t kSmallestFairFrame = 1024;

// Peers open their windows in steps of this many bytes or more.
constexpr std::size_t kSmallestUpdate = 1024;

// A scratch buffer that was needed for a head larger than this is given back.
constexpr std::size_t kKeptEncodedBytes = 4 * 1024;

bool has_trailers(const http::FieldList& trailers) {
  return std::ranges::any_of(trailers, [](const http::Field& field) { return !field.dropped; });
}

bool ends_with_head(const http::BodySize& body) {
  return body.kind != http::BodyKind::tunnel && body.is_empty();
}

}  // namespace

void Connection::send_request(Stream& stream, const http::RequestHead& head) {
  TI_ASSERT(can_open());
  if (!can_open()) return;
  attach(stream, next_own_id_);
  next_own_id_ += 2;
  stream.method_ = head.method;
  stream.upgrade_ = head.upgrade.substr(0, head.upgrade.find(','));
  stream.head_sent_ = true;
  apply(stream, Event::send_headers);
  write_request(encoder_, head, encoded_);
  queue_head(stream, ends_with_head(head.body) && head.upgrade.empty());
}

void Connection::send_response(Stream& stream, const http::ResponseHead& head) {
  if (stream.id_ == 0 || stream.head_sent_ || failed_) return;
  apply(stream, Event::send_headers);
  if (head.is_interim()) {
    write_response(encoder_, head, encoded_);
    return queue_head(stream, false);
  }
  stream.head_sent_ = true;
  // RFC 8441 §5: any 2xx opens the tunnel. Only an origin that has switched protocols may do that;
  // the body of another would reach the client as tunnelled bytes.
  if (stream.is_upgrade() && head.status >= 200 && head.status < 300) {
    http::ResponseHead bad_gateway;
    bad_gateway.status = 502;
    bad_gateway.body = {.kind = http::BodyKind::sized, .bytes = 0};
    write_response(encoder_, bad_gateway, encoded_);
    return queue_head(stream, true);
  }
  write_response(encoder_, head, encoded_);
  queue_head(stream, ends_with_head(head.body));
}

void Connection::queue_head(Stream& stream, bool ended) {
  write_header_block(control_, stream.id_, encoded_, ended, peer_.max_frame_bytes);
  encoded_.clear();
  if (encoded_.capacity() > kKeptEncodedBytes) encoded_.shrink_to_fit();
  if (!ended) return;
  stream.end_queued_ = true;
  apply(stream, Event::send_end_stream);
  last_in_queue_.push_back(stream);
}

void Connection::send_data(Stream& stream, ChunkQueue& data) {
  if (stream.id_ == 0 || stream.end_queued_ || failed_) return data.clear();
  TI_ASSERT(stream.head_sent_);
  stream.queue_.append(data);
  if (stream.queue_.size() > kQueueHigh) stream.over_high_ = true;
  schedule(stream);
}

void Connection::send_end(Stream& stream, const http::FieldList& trailers) {
  if (stream.id_ == 0 || stream.end_queued_ || failed_) return;
  TI_ASSERT(stream.head_sent_);
  stream.end_queued_ = true;
  if (stream.queue_.empty()) return end_now(stream, trailers);
  for (const http::Field& field : trailers) {
    if (!field.dropped) stream.trailers_.add(field.name, field.value, field.known, false);
  }
}

// The end goes out behind what control_ holds.
void Connection::end_now(Stream& stream, const http::FieldList& trailers) {
  if (has_trailers(trailers)) {
    write_trailers(encoder_, trailers, encoded_);
    return queue_head(stream, true);
  }
  write_frame_header(control_, {.length = 0,
                                .type = std::to_underlying(FrameType::data),
                                .flags = flag::kEndStream,
                                .stream_id = stream.id_});
  apply(stream, Event::send_end_stream);
  last_in_queue_.push_back(stream);
}

void Connection::reset(Stream& stream, ErrorCode code) {
  if (stream.id_ == 0) return;
  if (stream.state_ != State::closed) {
    closed_.remember_reset(stream.id_, true);
    write_reset(stream.id_, code);
  }
  detach(stream);
}

void Connection::write_reset(std::uint32_t id, ErrorCode code) {
  if (!failed_) write_rst_stream(control_, id, code);
}

void Connection::consumed(Stream& stream, std::size_t bytes) {
  if (stream.id_ == 0) return;
  bytes = std::min(bytes, stream.receive_window_.waiting());
  stream.receive_window_.consume(bytes);
  receive_window_.consume(bytes);
  note_window_due(stream);
}

void Connection::note_window_due(Stream& stream) noexcept {
  if (!next_state(stream.state_, Event::recv_end_stream)) return shrink_window(stream);
  if (stream.discards_ || stream.receive_window_.due() == 0) return;
  if (!stream.ListLink<WindowDue>::is_linked()) window_due_.push_back(stream);
}

void Connection::release_head(Stream& stream) { stream.head_ = FieldBlock{}; }

void Connection::start_drain() {
  if (goaway_sent_) return;
  goaway_sent_ = true;
  write_goaway(control_, last_accepted_id_, ErrorCode::no_error, {});
}

// Into the list of those that can send, or out of it, as the window says.
void Connection::schedule(Stream& stream) noexcept {
  const bool can_send = !stream.queue_.empty() && stream.send_window_.available() > 0;
  if (!can_send) return scheduler_.remove(stream);
  if (!Scheduler::has(stream)) scheduler_.add(stream);
}

bool Connection::has_output() const noexcept {
  if (!control_.empty()) return true;
  if (failed_) return false;
  return !window_due_.empty() || receive_window_.due_beside_waiting() > 0 ||
         (!scheduler_.empty() && send_window_.available() > 0);
}

bool Connection::produce(ChunkQueue& out, std::size_t budget) {
  if (failed_) {
    out.append(control_);
    return false;
  }
  write_window_updates();
  flush_control(out);
  while (out.size() < budget && send_window_.available() > 0) {
    Stream* stream = scheduler_.take_next();
    if (stream == nullptr) break;
    produce_data(*stream, out);
    flush_control(out);
  }
  return has_output();
}

void Connection::write_window_updates() {
  while (Stream* stream = window_due_.pop_front()) {
    if (stream->receive_window_.due() == 0) continue;
    tune_window(*stream);
    const std::uint32_t due = stream->receive_window_.due();
    write_window_update(control_, stream->id_, due);
    stream->receive_window_.give_back(due);
  }
  if (const std::uint32_t due = receive_window_.due_beside_waiting(); due > 0) {
    write_window_update(control_, 0, due);
    receive_window_.give_back(due);
  }
}

// Makes the stream's window larger if it, and not whoever sends or takes the bytes, may set the
// pace: then half of it is used up within two round trips (at its limit: in one; credit comes in
// bursts). The growth of a stream is bounded, and that of all together.
void Connection::tune_window(Stream& stream) {
  const std::optional<TimePoint> last = std::exchange(stream.window_given_at_, now_);
  const bool held = std::exchange(stream.window_held_, false);
  if (held || !last || !round_trip_ || now_ - *last >= 2 * *round_trip_) return;
  const std::uint32_t size = stream.receive_window_.size();
  if (size >= options_.largest_stream_window_bytes) return;
  const std::uint32_t more = std::min(size, options_.largest_stream_window_bytes - size);
  if (more > options_.connection_window_growth_bytes - window_growth_) return;
  window_growth_ += more;
  stream.receive_window_.resize(size + more);
  receive_window_.resize(receive_window_.size() + more);
}

// The peer sends no more on the stream: others may grow by what it does not need any more. What
// still waits of it goes on taking its own share, and not that of the others.
void Connection::shrink_window(Stream& stream) noexcept {
  const auto waiting = static_cast<std::uint32_t>(stream.receive_window_.waiting());
  const std::uint32_t needed = std::max(options_.stream_window_bytes, waiting);
  return_growth(stream, std::min(stream.receive_window_.size(), needed));
}

void Connection::return_growth(Stream& stream, std::uint32_t size) noexcept {
  const std::uint32_t grown = stream.receive_window_.size() - size;
  window_growth_ -= grown;
  receive_window_.resize(receive_window_.size() - grown);
  stream.receive_window_.resize(size);
}

void Connection::flush_control(ChunkQueue& out) {
  // What the handler says in on_closed() is a reason for another round.
  while (!control_.empty() || !last_in_queue_.empty()) {
    out.append(control_);
    reply_bytes_ = 0;
    while (Stream* stream = last_in_queue_.pop_front()) close_if_done(*stream);
  }
}

void Connection::produce_data(Stream& stream, ChunkQueue& out) {
  const std::size_t window = std::min(stream.send_window_.available(), send_window_.available());
  const std::size_t bytes = std::min({stream.queue_.size(), window, kTurnBytes});
  const bool is_last = bytes == stream.queue_.size() && stream.end_queued_;
  const bool ended = is_last && stream.trailers_.size() == 0;
  if (bytes == stream.queue_.size() || bytes < window || bytes >= kSmallestFairFrame) {
    explain_replies(bytes);
  }
  write_data_frame(stream, bytes, ended, out);
  if (is_last) {
    if (!ended) return write_queued_trailers(stream);
    apply(stream, Event::send_end_stream);
    return close_if_done(stream);
  }
  if (!stream.queue_.empty() && stream.send_window_.available() > 0) scheduler_.put_back(stream);
  if (stream.over_high_ && stream.queue_.size() < kQueueLow) {
    stream.over_high_ = false;
    if (!stream.end_queued_) handler_.on_stream_writable(stream);
  }
}

// A peer opens the windows of the stream and of the connection again, in a few steps, and may look
// how long a round trip takes with a PING (gRPC does so to size its windows).
void Connection::explain_replies(std::size_t bytes) noexcept {
  window_updates_.explain(2 + static_cast<std::uint32_t>(2 * bytes / kSmallestUpdate));
  pings_.explain(1);
}

void Connection::write_data_frame(Stream& stream, std::size_t bytes, bool ended, ChunkQueue& out) {
  write_frame_header(out, {.length = static_cast<std::uint32_t>(bytes),
                           .type = std::to_underlying(FrameType::data),
                           .flags = ended ? flag::kEndStream : std::uint8_t{0},
                           .stream_id = stream.id_});
  stream.send_window_.take(bytes);
  send_window_.take(bytes);
  stream.produced_bytes_ += bytes;
  if (bytes > ChunkQueue::kCopyBytes) return out.append(stream.queue_, bytes);
  // Small ones are cheaper to copy than to carry as a slice, and then to gather.
  while (bytes > 0) {
    const Bytes front = stream.queue_.front();
    const std::size_t part = std::min(bytes, front.size());
    out.append(as_text(front.first(part)));
    stream.queue_.consume(part);
    bytes -= part;
  }
}

void Connection::write_queued_trailers(Stream& stream) {
  own_trailers_.clear();
  for (const FieldBlock::Entry& entry : stream.trailers_.entries()) {
    own_trailers_.add(stream.trailers_.name(entry), stream.trailers_.value(entry), {}, entry.known);
  }
  end_now(stream, own_trailers_);
}

}  // namespace titanium::http2
