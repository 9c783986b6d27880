// SPDX-License-Identifier: MIT
#include "proxy/origin/http2_origin_connection.h"

#include <algorithm>
#include <utility>

#include "http/field.h"
#include "proxy/exchange.h"
#include "proxy/origin/origin_pool.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr Error kWriteStalled{.code = Code::timed_out,
                              .side = Side::origin,
                              .what = "the origin stopped reading the request"};

// Streams that are opened before the origin has said how many it takes. It says so with its first
// bytes, and whatever is over its limit comes back refused.
constexpr std::size_t kStreamsBeforeSettings = 1;

// The shorter of two time-outs, where zero means none.
net::Duration shorter(net::Duration a, net::Duration b) {
  if (a == net::Duration::zero()) return b;
  return b == net::Duration::zero() ? a : std::min(a, b);
}

const http::FieldList kNoTrailers;

bool is_websocket(const Exchange& exchange) {
  return http::equals_ignore_case(exchange.upgrade(), "websocket");
}

}  // namespace

// ---- Stream: commands of the exchange

Http2OriginStream::Http2OriginStream(Http2OriginConnection& connection, ChunkPool& pool)
    : http2::Stream(pool), connection_(connection), inbound_(pool) {}

void Http2OriginStream::send_head(const http::RequestHead& head) {
  upgrades_ = !head.upgrade.empty();
  opened_ = true;
  begun_at_ = connection_.link_.taken_bytes();
  connection_.codec().send_request(*this, head);
  connection_.link_.schedule();
}

void Http2OriginStream::send_body(ChunkQueue& data) {
  if (!opened_)
    return data.clear();  // Reset meanwhile; the exchange hears of it, or has the answer.
  connection_.codec().send_data(*this, data);
  connection_.link_.schedule();
}

void Http2OriginStream::send_end(const http::FieldList& trailers) {
  // The request that asks for a tunnel ends with its head, but its direction stays open.
  if (!opened_ || (upgrades_ && !tunnel_)) return;
  connection_.codec().send_end(*this, trailers);
  connection_.link_.schedule();
}

std::size_t Http2OriginStream::backlog() const noexcept { return queued_bytes(); }

void Http2OriginStream::resume_body() {
  paused_ = false;
  if (inbound_.data().empty() && !inbound_.has_ended()) return;
  resumed_ = true;
  connection_.pool_.worker().loop().defer_to_next_turn(connection_.next_turn_);
}

void Http2OriginStream::start_tunnel() { tunnel_ = true; }

void Http2OriginStream::release() {
  exchange_ = nullptr;
  if (!opened_) return connection_.retire(*this);
  if (!upgrades_ || tunnel_) return;
  // The switch was refused: our direction, which was kept open for it, ends now.
  connection_.codec().send_end(*this, kNoTrailers);
  connection_.link_.schedule();
}

void Http2OriginStream::abort() {
  exchange_ = nullptr;
  if (std::exchange(opened_, false)) {
    connection_.codec().reset(*this, http2::ErrorCode::cancel);
    connection_.link_.schedule();
  }
  connection_.retire(*this);
}

// ---- Connection

Http2OriginConnection::Http2OriginConnection(OriginPool& pool,
                                             std::unique_ptr<net::Transport> transport)
    : pool_(pool),
      link_(pool.worker(), std::move(transport), InputBuffer(pool.worker().chunks()),
            http2::Role::client, *this, *this, Side::origin),
      idle_since_(pool.worker().loop().now()),
      tick_(pool.worker().loop(), *this) {
  link_.start();
  tick_within(pool.worker().options().timeouts.idle);
}

Http2OriginConnection::~Http2OriginConnection() {
  for (auto* list : {&live_, &spare_, &retired_}) {
    while (Http2OriginStream* stream = list->pop_front()) delete stream;
  }
}

void Http2OriginConnection::doom() noexcept {
  doomed_ = true;
  link_.disown();
}

bool Http2OriginConnection::can_carry(const Exchange& exchange) {
  if (!is_open() || !codec().can_open()) return false;
  if (!codec().received_settings()) {
    return !is_websocket(exchange) && codec().stream_count() < kStreamsBeforeSettings;
  }
  return !is_websocket(exchange) || codec().peer_takes_extended_connect();
}

bool Http2OriginConnection::refuses_extended_connect() {
  return is_open() && codec().received_settings() && !codec().peer_takes_extended_connect();
}

OriginStream& Http2OriginConnection::open(Exchange& exchange) {
  Http2OriginStream* stream = spare_.pop_front();
  if (stream != nullptr) {
    --spare_count_;
  } else {
    stream = new Http2OriginStream(*this, pool_.worker().chunks());  // Owned by our lists.
  }
  live_.push_back(*stream);
  stream->exchange_ = &exchange;
  used_ = true;
  stream->stalled_since_ = pool_.worker().loop().now();
  tick_within(exchange.idle_write_timeout());
  // HTTP/2 can carry no upgrade but this one; the origin is free to ignore it (RFC 9110 §7.8).
  if (!is_websocket(exchange)) exchange.request().upgrade = {};
  return *stream;
}

void Http2OriginConnection::retire(Http2OriginStream& stream) {
  stream.inbound_.clear();
  stream.upgrades_ = stream.tunnel_ = stream.paused_ = stream.resumed_ = false;
  stream.response_seen_ = stream.response_ended_ = false;
  stream.takes_request_ = true;
  stream.stalled_at_ = 0;
  idle_since_ = pool_.worker().loop().now();
  static_cast<ListLink<Http2OriginStream>&>(stream).unlink();
  retired_.push_back(stream);
  link_.schedule();
}

void Http2OriginConnection::drain() {
  if (std::exchange(leaving_, true)) return;
  close_if_unused();
}

void Http2OriginConnection::close_if_unused() {
  const bool for_one_use = used_ && !pool_.keeps_connections();
  if ((!leaving_ && !for_one_use) || !live_.empty() || link_.is_closing()) return;
  leaving_ = true;
  codec().start_drain();
  link_.close();
}

// ---- Events of the codec

http::RequestHead& Http2OriginConnection::request_of(http2::Stream& /*stream*/) {
  return no_request_;
}

http::ResponseHead& Http2OriginConnection::response_of(http2::Stream& stream) {
  Exchange* exchange = as_ours(stream).exchange_;
  http::ResponseHead& head = exchange != nullptr ? exchange->response() : unwanted_;
  head.clear();
  return head;
}

void Http2OriginConnection::on_response(http2::Stream& stream, bool ended) {
  Http2OriginStream& ours = as_ours(stream);
  if (ours.exchange_ == nullptr) return;
  if (ours.exchange_->response().is_interim()) return ours.exchange_->on_interim();
  ours.response_seen_ = true;
  ours.exchange_->on_response();
  if (ours.exchange_ == nullptr) return;
  codec().release_head(ours);
  if (ended) end_response(ours, kNoTrailers);
}

void Http2OriginConnection::on_data(http2::Stream& stream, ChunkQueue& data) {
  Http2OriginStream& ours = as_ours(stream);
  const std::size_t bytes = data.size();
  if (ours.exchange_ != nullptr && (ours.paused_ || !ours.inbound_.data().empty())) {
    return ours.inbound_.data().append(data);
  }
  if (ours.exchange_ != nullptr) ours.exchange_->on_response_data(data);
  data.clear();
  if (ours.opened_) codec().consumed(ours, bytes);
}

void Http2OriginConnection::on_end(http2::Stream& stream, const http::FieldList& trailers) {
  Http2OriginStream& ours = as_ours(stream);
  if (ours.exchange_ == nullptr) return;
  if (!ours.inbound_.data().empty()) return ours.inbound_.keep_end(trailers);
  end_response(ours, trailers);
}

void Http2OriginConnection::end_response(Http2OriginStream& stream,
                                         const http::FieldList& trailers) {
  if (std::exchange(stream.response_ended_, true)) return;
  stream.exchange_->on_response_end(trailers, stream.takes_request_);
}

// What was kept while the exchange was paused.
void Http2OriginConnection::deliver(Http2OriginStream& stream) {
  if (stream.exchange_ == nullptr || stream.paused_) return;
  ChunkQueue& data = stream.inbound_.data();
  if (const std::size_t bytes = data.size(); bytes > 0) {
    stream.exchange_->on_response_data(data);
    data.clear();
    if (stream.opened_) codec().consumed(stream, bytes);
  }
  if (stream.exchange_ == nullptr || !stream.inbound_.has_ended()) return;
  http::FieldList& trailers = pool_.worker().trailers();
  stream.inbound_.get_trailers(trailers);
  end_response(stream, trailers);
  trailers.clear();
}

void Http2OriginConnection::on_stream_writable(http2::Stream& stream) {
  Exchange* exchange = as_ours(stream).exchange_;
  if (exchange != nullptr) exchange->on_origin_writable();
}

void Http2OriginConnection::on_closed(http2::Stream& stream) {
  Http2OriginStream& ours = as_ours(stream);
  ours.opened_ = false;
  if (ours.exchange_ == nullptr) retire(ours);
}

void Http2OriginConnection::on_reset(http2::Stream& stream, const Error& error) {
  Http2OriginStream& ours = as_ours(stream);
  ours.opened_ = false;
  if (ours.exchange_ == nullptr) return retire(ours);
  // RFC 9113 §8.1: a complete response may be followed by a reset that only says "enough of this
  // request". The response is still on its way to the client.
  ours.takes_request_ = false;
  if (ours.response_ended_ || !ours.inbound_.has_ended()) fail(ours, error);
}

void Http2OriginConnection::fail(Http2OriginStream& stream, const Error& error) {
  Exchange* exchange = std::exchange(stream.exchange_, nullptr);
  Error told = error;
  const bool is_lost = told.code == Code::closed || told.code == Code::reset;
  if (is_lost && told.retry == Retry::never && !stream.response_seen_) {
    // Unless it is still here, nobody can tell whether the origin has begun with it.
    const bool unsent = stream.begun_at_ == link_.taken_bytes();
    told.retry = unsent ? Retry::always : Retry::if_idempotent;
  }
  if (std::exchange(stream.opened_, false)) codec().reset(stream, http2::ErrorCode::cancel);
  retire(stream);
  if (exchange != nullptr) exchange->on_origin_error(told);
}

void Http2OriginConnection::on_goaway() { leaving_ = true; }

// ---- Events of the link

void Http2OriginConnection::on_link_failed(const Error& error) {
  leaving_ = true;
  link_.log_fault(error, pool_.endpoint().id);
  while (Http2OriginStream* stream = live_.front()) fail(*stream, error);
}

void Http2OriginConnection::on_link_closed() { pool_.remove(*this); }

void Http2OriginConnection::on_link_progress() {
  while (Http2OriginStream* stream = retired_.pop_front()) {
    if (spare_count_ >= kKeptStreams) {
      delete stream;
    } else {
      spare_.push_front(*stream);
      ++spare_count_;
    }
  }
  pool_.serve_waiting();
  close_if_unused();
}

void Http2OriginConnection::on_next_turn() {
  if (doomed_) return;
  live_.for_each([this](Http2OriginStream& stream) {
    if (std::exchange(stream.resumed_, false)) deliver(stream);
  });
  link_.schedule();
}

// ---- Time

// Time-outs differ from exchange to exchange: the next look is when the shortest may be over.
void Http2OriginConnection::tick_within(net::Duration after) {
  if (after == net::Duration::zero()) return;
  const net::TimePoint at = pool_.worker().loop().now() + after;
  if (tick_.is_armed() && tick_at_ <= at) return;
  tick_at_ = at;
  tick_.arm(after);
}

void Http2OriginConnection::on_tick() {
  if (doomed_ || link_.is_closing()) return;
  const net::Duration idle = pool_.worker().options().timeouts.idle;
  net::Duration next = idle;
  if (live_.empty() && idle > net::Duration::zero()) {
    const auto left = idle_since_ + idle - pool_.worker().loop().now();
    if (left <= net::TimePoint::duration::zero()) return drain();
    next = std::chrono::ceil<net::Duration>(left);
  }
  live_.for_each([&](Http2OriginStream& stream) { next = shorter(next, watch(stream)); });
  tick_within(next);
}

// Fails a stream whose request the origin does not take. How long that may last; zero: for ever.
net::Duration Http2OriginConnection::watch(Http2OriginStream& stream) {
  // Without an exchange: the response is complete, and the rest of the request is not taken.
  const net::Duration limit = stream.exchange_ != nullptr ? stream.exchange_->idle_write_timeout()
                                                          : pool_.worker().options().timeouts.idle;
  const net::TimePoint now = pool_.worker().loop().now();
  if (stream.queued_bytes() == 0 || stream.produced_bytes() != stream.stalled_at_) {
    stream.stalled_at_ = stream.produced_bytes();
    stream.stalled_since_ = now;
  } else if (limit > net::Duration::zero() && now - stream.stalled_since_ >= limit) {
    fail(stream, kWriteStalled);
    return net::Duration::zero();
  }
  return limit;
}

}  // namespace titanium::proxy
