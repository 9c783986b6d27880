// SPDX-License-Identifier: MIT
#include "proxy/http2_link.h"

#include <algorithm>
#include <utility>

#include "proxy/http1_transfer.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

// Bytes that are taken from the codec ahead of the socket. More would only make a stream that comes
// later wait longer behind those that came first.
constexpr std::size_t kOutputBytes = 128 * 1024;
// How long, and for how many bytes, to read on after our last byte, so that what the peer still
// sends does not reset the connection before it has read our GOAWAY.
constexpr net::Duration kLinger{1'000};
constexpr std::size_t kLingerBytes = 16 * 1024 * 1024;

}  // namespace

Http2Link::Http2Link(Worker& worker, std::unique_ptr<net::Transport> transport,
                     InputBuffer received, http2::Role role, http2::ConnectionHandler& handler,
                     Owner& owner, Side peer)
    : worker_(worker),
      transport_(std::move(transport)),
      owner_(&owner),
      peer_(peer),
      input_(std::move(received)),
      output_(worker.chunks()),
      connection_(role, worker.options().http2, worker.chunks(), handler, worker.loop().now()),
      deadline_(worker.loop(), *this),
      stall_(worker.loop(), *this) {}

Http2Link::~Http2Link() { transport_->set_handler(nullptr); }

void Http2Link::start() {
  transport_->set_handler(this);
  watch_deadline();
  schedule();
  if (!input_.empty()) worker_.loop().defer_to_next_turn(next_turn_);
}

void Http2Link::schedule() { worker_.loop().defer(turn_end_); }

void Http2Link::close() {
  if (phase_ != Phase::open) return;
  phase_ = Phase::flushing;
  schedule();
}

std::size_t Http2Link::backlog() const noexcept {
  return output_.size() + transport_->unsent_bytes();
}

void Http2Link::log_fault(const Error& error, std::string_view who) {
  const char* const leg = peer_ == Side::client ? "client" : "origin";
  const bool broke_rule = error.code == Code::protocol || error.code == Code::limit;
  const auto suppressed = broke_rule ? worker_.http2_fault_to_log(peer_) : std::nullopt;
  if (!suppressed) {
    return worker_.logger().log(LogLevel::debug, "HTTP/2 connection with {} {} ended: {}", leg, who,
                                error.what);
  }
  const http2::Counters& seen = connection_.counters();
  worker_.logger().log(LogLevel::warning,
                       "HTTP/2 connection with {} {} ended: {} (error {}; {} streams, {} refused, "
                       "{} reset, {} reset "
                       "for errors; frames: {} CONTINUATION, {} SETTINGS, {} PING, {} "
                       "WINDOW_UPDATE, {} of priority, "
                       "{} empty, {} unknown); {} more since the last such line",
                       leg, who, error.what, error.native, seen.streams, seen.refused_streams,
                       seen.resets_received, seen.resets_sent_for_errors, seen.continuations,
                       seen.settings, seen.pings, seen.window_updates, seen.priority_frames,
                       seen.empty_frames, seen.unknown_frames, *suppressed);
}

// ---- Input

void Http2Link::on_readable() { read(); }

void Http2Link::on_next_turn() {
  read();
  if (phase_ != Phase::closed) flush();
}

void Http2Link::read() {
  for (std::size_t read = 0; phase_ != Phase::closed;) {
    if (!input_.empty()) {
      Slice received = input_.take();
      if (phase_ == Phase::open) {
        const auto taken = connection_.receive(std::move(received), worker_.loop().now());
        if (!taken) fail(taken.error());
      } else if (discarded_bytes_ += received.size(); discarded_bytes_ > kLingerBytes) {
        return end();
      }
    }
    if (read >= kReadBudgetBytes) {
      // The rest in the next turn: a peer that always has something to say must not keep the loop
      // from everybody else.
      worker_.loop().defer_to_next_turn(next_turn_);
      break;
    }
    const auto result = transport_->read(input_.room());
    if (result.status == net::ReadResult::Status::bytes) {
      input_.filled(result.bytes);
      read += result.bytes;
      continue;
    }
    input_.release_if_empty();
    if (result.status == net::ReadResult::Status::would_block) break;
    input_ended_ = true;
    const bool failed = result.status == net::ReadResult::Status::failed;
    if (failed || phase_ == Phase::lingering) {
      return lose({.code = Code::closed,
                   .side = peer_,
                   .native = result.error.native,
                   .what = "the connection was reset"});
    }
    // HTTP/2 has no half-closed connections: whoever ends its direction reads no answer either.
    return lose({.code = Code::closed, .side = peer_, .what = "the connection was closed"});
  }
  watch_deadline();
  schedule();
  if (owner_ != nullptr && phase_ == Phase::open) owner_->on_link_progress();
}

// A rule was broken: GOAWAY is queued and goes out before the connection ends.
void Http2Link::fail(const Error& error) {
  if (phase_ != Phase::open) return;
  phase_ = Phase::flushing;
  schedule();
  if (owner_ != nullptr) owner_->on_link_failed(error);
}

// Nothing can be sent or received any more.
void Http2Link::lose(const Error& error) {
  if (phase_ == Phase::closed) return;
  const bool was_open = phase_ == Phase::open;
  phase_ = Phase::flushing;
  if (was_open && owner_ != nullptr) owner_->on_link_failed(error);
  end();
}

void Http2Link::end() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  stall_.disarm();
  deadline_.disarm();
  if (owner_ != nullptr) owner_->on_link_closed();
}

// ---- Output

void Http2Link::on_writable() {
  if (phase_ != Phase::closed) flush();
}

void Http2Link::on_turn_end() {
  if (phase_ != Phase::closed) flush();
}

void Http2Link::flush() {
  std::size_t before = 0;
  do {
    // While the peer reads nothing, streams stay in the codec, where their number is limited.
    // What has come up meanwhile is asked for once there is room.
    more_to_produce_ = output_.size() >= kOutputBytes || connection_.produce(output_, kOutputBytes);
    before = output_.size();
    if (before == 0) break;
    const auto written = transport_->write(output_);
    taken_bytes_ += before - output_.size();
    if (!written) {
      // The GOAWAY, or the answer, that explains why the peer reads no more may be here already.
      read();
      Error error = written.error();
      error.side = peer_;
      return lose(error);
    }
  } while (more_to_produce_ && output_.empty());
  watch_progress();
  if (phase_ == Phase::flushing && output_.empty()) return finish_close();
  if (phase_ == Phase::open && owner_ != nullptr) owner_->on_link_progress();
}

// Judged once per time-out: more to send is no progress, and a byte now and then is.
void Http2Link::watch_progress() {
  if (phase_ != Phase::open && phase_ != Phase::flushing) return;
  if (backlog() == 0) return stall_.disarm();
  if (stall_.is_armed()) return;
  stalled_at_ = taken_bytes_ - std::min<std::uint64_t>(taken_bytes_, transport_->unsent_bytes());
  stall_.arm(worker_.options().timeouts.idle);
}

void Http2Link::finish_close() {
  transport_->shutdown_write();
  if (transport_->unsent_bytes() > 0) return watch_progress();  // on_writable() follows.
  if (input_ended_) return end();
  phase_ = Phase::lingering;
  stall_.arm(kLinger);
  worker_.loop().defer_to_next_turn(next_turn_);
}

void Http2Link::on_stalled() {
  if (phase_ == Phase::lingering) return end();
  const std::uint64_t sent =
      taken_bytes_ - std::min<std::uint64_t>(taken_bytes_, transport_->unsent_bytes());
  if (backlog() > 0 && sent <= stalled_at_) {
    transport_->abort_on_close();
    return lose({.code = Code::timed_out, .side = peer_, .what = "the peer stopped reading"});
  }
  watch_progress();
}

// ---- Deadlines of the codec

void Http2Link::watch_deadline() {
  const auto next = connection_.next_deadline();
  if (next == deadline_at_) return;
  deadline_at_ = next;
  if (!next) return deadline_.disarm();
  const auto left = std::chrono::ceil<net::Duration>(*next - worker_.loop().now());
  deadline_.arm(std::max(left, net::Duration(1)));
}

void Http2Link::on_deadline() {
  deadline_at_.reset();
  if (phase_ != Phase::open) return;
  if (const auto good = connection_.check_deadlines(worker_.loop().now()); !good) {
    fail(good.error());
  }
  watch_deadline();
}

}  // namespace titanium::proxy
