// SPDX-License-Identifier: MIT
//
// What a connection is made of, and how streams come and go.
#include "http2/connection.h"

#include <utility>

#include "base/assert.h"
#include "base/try.h"

namespace titanium::http2 {
namespace {

// A head that was larger than this does not keep its memory: a stream object lives long.
constexpr std::size_t kKeptHeadBytes = 16 * 1024;

// What a peer may save up: WINDOW_UPDATEs for some 50 MB, and others.
constexpr std::uint32_t kMostExplainedUpdates = 100'000;
constexpr std::uint32_t kMostExplainedFrames = 1000;

void clear(FieldBlock& block) {
  if (block.list_bytes() > kKeptHeadBytes) block = FieldBlock{};
  block.clear();
}

Code code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::enhance_your_calm:
      return Code::limit;
    case ErrorCode::settings_timeout:
      return Code::timed_out;
    default:
      return Code::protocol;
  }
}

}  // namespace

Connection::Connection(Role role, const Options& options, ChunkPool& pool,
                       ConnectionHandler& handler, TimePoint now)
    : role_(role),
      options_(options),
      handler_(handler),
      reading_(role == Role::server ? Reading::preface : Reading::frame_header),
      now_(now),
      partial_(pool),
      block_(pool),
      piece_(pool),
      next_own_id_(role == Role::client ? 1 : 2),
      ack_deadline_(now + options.settings_ack_time),
      receive_window_(options.connection_window_bytes, kDefaultWindow),
      began_(now),
      control_(pool),
      incomplete_resets_(options.incomplete_resets),
      settings_frames_(options.settings_frames),
      pings_(options.pings, kMostExplainedFrames),
      empty_frames_(options.empty_frames, kMostExplainedFrames),
      priority_frames_(options.priority_frames),
      window_updates_(options.window_updates, kMostExplainedUpdates),
      unknown_frames_(options.unknown_frames) {
  if (role == Role::client) control_.append(kPreface);
  write_own_settings(control_, role, options);
  if (options.connection_window_bytes > kDefaultWindow) {
    const std::uint32_t more = options.connection_window_bytes - kDefaultWindow;
    write_window_update(control_, 0, more);
    receive_window_.give_back(more);
  }
}

Connection::~Connection() {
  streams_.for_each([this](Stream& stream) { detach(stream); });
}

Result<> Connection::check_deadlines(TimePoint now) {
  if (failed_) return {};
  now_ = now;
  if (block_.deadline && now >= *block_.deadline) {
    return fail(ErrorCode::enhance_your_calm,
                "field block took too long (limits.maxOpenHeaderBlockDurationSeconds)");
  }
  if (ack_deadline_ && now >= *ack_deadline_) {
    return fail(ErrorCode::settings_timeout, "SETTINGS were not acknowledged in time");
  }
  return {};
}

std::optional<Connection::TimePoint> Connection::next_deadline() const noexcept {
  if (failed_) return std::nullopt;
  if (block_.deadline && ack_deadline_) return std::min(*block_.deadline, *ack_deadline_);
  return block_.deadline ? block_.deadline : ack_deadline_;
}

bool Connection::can_open() const noexcept {
  return role_ == Role::client && !failed_ && !is_draining() && next_own_id_ <= goaway_limit_ &&
         table_.size() < peer_.concurrent_streams;
}

Error Connection::peer_error(ErrorCode code, std::string_view what) const noexcept {
  return {.code = code_for(code),
          .side = peer_side(),
          .native = static_cast<std::int32_t>(code),
          .what = what};
}

std::unexpected<Error> Connection::fail(ErrorCode code, std::string_view what) {
  TI_ASSERT(!failed_);
  failed_ = true;
  block_.deadline.reset();
  block_.bytes.clear();
  partial_.clear();
  write_goaway(control_, last_accepted_id_, code, what);
  goaway_sent_ = true;
  return std::unexpected(peer_error(code, what));
}

Result<> Connection::spend(Budget& budget, std::uint64_t& counter, std::string_view what) {
  ++counter;
  if (budget.spend(now_)) return {};
  return fail(ErrorCode::enhance_your_calm, what);
}

Result<> Connection::count_incomplete_reset() {
  // An origin can not make us open streams; what it resets is its own loss.
  if (role_ == Role::client) return {};
  return spend(incomplete_resets_, counters_.incomplete_resets,
               "too many streams were reset (limits.maxPeerInitiatedIncompleteStreamResets)");
}

bool Connection::is_idle(std::uint32_t id) const noexcept {
  const bool is_even = id % 2 == 0;
  if (is_even) return true;  // Push is refused by both roles.
  return role_ == Role::server ? id > last_peer_id_ : id >= next_own_id_;
}

void Connection::attach(Stream& stream, std::uint32_t id) {
  TI_ASSERT(stream.id_ == 0);
  ++counters_.streams;
  // Some peers open the window of each stream when it begins, or begin bodies with an empty frame.
  window_updates_.explain(1);
  empty_frames_.explain(1);
  stream.id_ = id;
  stream.state_ = State::idle;
  stream.priority_ = {};
  stream.method_ = http::Method::get;
  stream.head_received_ = stream.head_sent_ = stream.end_queued_ = false;
  stream.over_high_ = stream.discards_ = false;
  stream.declared_bytes_.reset();
  stream.received_bytes_ = stream.produced_bytes_ = 0;
  stream.upgrade_.clear();
  stream.queue_.clear();
  clear(stream.head_);
  clear(stream.trailers_);
  stream.send_window_ = SendWindow(peer_.initial_window);
  // Until the peer has confirmed our SETTINGS, it may go by the window that they replace.
  const std::uint32_t size = options_.stream_window_bytes;
  stream.receive_window_ =
      ReceiveWindow(size, ack_deadline_ ? std::max(size, kDefaultWindow) : size);
  stream.window_given_at_.reset();
  stream.window_held_ = false;
  streams_.push_back(stream);
  table_.insert(stream);
}

void Connection::detach(Stream& stream) noexcept {
  table_.erase(stream);
  scheduler_.remove(stream);
  stream.ListLink<Stream>::unlink();
  stream.ListLink<WindowDue>::unlink();
  stream.ListLink<LastInQueue>::unlink();
  stream.queue_.clear();
  // Whatever its owner still holds of it must not keep the others waiting for ever.
  receive_window_.consume(stream.receive_window_.waiting());
  return_growth(stream, options_.stream_window_bytes);
  stream.state_ = State::closed;
  stream.id_ = 0;
}

void Connection::apply(Stream& stream, Event event) noexcept {
  const std::optional<State> next = next_state(stream.state_, event);
  TI_ASSERT(next.has_value());
  stream.state_ = next.value_or(State::closed);
}

Result<> Connection::on_peer_end(Stream& stream, const http::FieldList& trailers) {
  // RFC 9113 §8.1.1: a length that lies makes the message malformed.
  if (stream.declared_bytes_.value_or(stream.received_bytes_) != stream.received_bytes_) {
    return stream_error(stream, ErrorCode::protocol_error, "body is shorter than content-length");
  }
  apply(stream, Event::recv_end_stream);
  const std::uint32_t id = stream.id_;
  stream.ListLink<WindowDue>::unlink();
  if (!stream.discards_) handler_.on_end(stream, trailers);
  if (stream.id_ != id) return {};
  shrink_window(stream);
  close_if_done(stream);
  return {};
}

void Connection::close_if_done(Stream& stream) {
  if (stream.ListLink<LastInQueue>::is_linked()) return;  // Our last frame is still to be produced.
  if (stream.state_ == State::half_closed_local && stream.discards_) {
    // RFC 9113 §8.1: the answer is complete, and the rest of the request is not wanted.
    closed_.remember_reset(stream.id_, true);
    write_reset(stream.id_, ErrorCode::no_error);
    apply(stream, Event::send_reset);
  }
  if (stream.state_ != State::closed) return;
  detach(stream);
  handler_.on_closed(stream);
}

Result<> Connection::stream_error(Stream& stream, ErrorCode code, const Error& error) {
  const bool answered =
      stream.state_ == State::half_closed_local && !stream.ListLink<LastInQueue>::is_linked();
  const std::uint32_t id = stream.id_;
  detach(stream);
  refuse_frame(id, code);
  Error told = error;
  told.native = static_cast<std::int32_t>(code);
  handler_.on_reset(stream, told);
  return answered ? Result<>{} : count_incomplete_reset();
}

Result<> Connection::stream_error(Stream& stream, ErrorCode code, std::string_view what) {
  return stream_error(stream, code, peer_error(code, what));
}

Result<> Connection::reset_unknown(std::uint32_t id, ErrorCode code) {
  refuse_frame(id, code);
  return count_incomplete_reset();
}

void Connection::refuse_frame(std::uint32_t id, ErrorCode code) {
  ++counters_.resets_sent_for_errors;
  closed_.remember_reset(id, true);
  write_reset(id, code);
  reply_bytes_ += kFrameHeaderBytes + 4;
}

}  // namespace titanium::http2
