// SPDX-License-Identifier: MIT
#include "proxy/origin/http1_origin_connection.h"

#include <utility>

#include "http1/serializer.h"
#include "proxy/exchange.h"
#include "proxy/http1_transfer.h"
#include "proxy/origin/origin_pool.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr Error kClosedEarly{.code = Code::closed,
                             .side = Side::origin,
                             .what = "the origin closed the connection before it answered"};
constexpr Error kSpokeFirst{.code = Code::closed,
                            .side = Side::origin,
                            .retry = Retry::always,  // No byte of the request has left.
                            .what = "the origin closed, or sent something, before the request"};
constexpr Error kIncomplete{
    .code = Code::closed,
    .side = Side::origin,
    .what = "the origin closed the connection in the middle of its response"};
constexpr Error kWriteStalled{.code = Code::timed_out,
                              .side = Side::origin,
                              .what = "the origin stopped reading the request"};

http1::Framing framing_of(const http::BodySize& body) {
  switch (body.kind) {
    case http::BodyKind::none:
      return http1::Framing::none;
    case http::BodyKind::sized:
      return http1::Framing::fixed;
    case http::BodyKind::streamed:
      return http1::Framing::chunked;
    case http::BodyKind::tunnel:
      return http1::Framing::tunnel;
  }
  return http1::Framing::none;
}

}  // namespace

Http1OriginConnection::Http1OriginConnection(OriginPool& pool,
                                             std::unique_ptr<net::Transport> transport)
    : pool_(pool),
      transport_(std::move(transport)),
      input_(pool.worker().chunks()),
      output_(pool.worker().chunks()),
      body_(pool.worker().chunks()),
      parser_(pool.worker().options().limits.head),
      decoder_(Side::origin, pool.worker().options().limits.body),
      write_stall_(pool.worker().loop(), *this) {
  transport_->set_handler(this);
}

Http1OriginConnection::~Http1OriginConnection() { transport_->set_handler(nullptr); }

void Http1OriginConnection::begin(Exchange& exchange) {
  exchange_ = &exchange;
  method_ = exchange.request().method;
  reading_ = Reading::head;
  parser_.reset();
  head_written_ = request_ended_ = response_seen_ = paused_ = reusable_ = released_ = false;
}

bool Http1OriginConnection::is_usable(bool ask_kernel) {
  return !doomed_ && !input_ended_ && !(ask_kernel && transport_->is_stale());
}

void Http1OriginConnection::doom() noexcept {
  doomed_ = true;
  exchange_ = nullptr;
}

// ---- Commands of the exchange

void Http1OriginConnection::send_head(const http::RequestHead& head) {
  http1::write_request_head(output_, head);
  request_framing_ = framing_of(head.body);
  pool_.worker().loop().defer(turn_end_);
}

void Http1OriginConnection::send_body(ChunkQueue& data) {
  write_body(output_, request_framing_, data);
  pool_.worker().loop().defer(turn_end_);
}

void Http1OriginConnection::send_end(const http::FieldList& trailers) {
  write_body_end(output_, request_framing_, trailers);
  request_ended_ = true;
  pool_.worker().loop().defer(turn_end_);
}

std::size_t Http1OriginConnection::backlog() const noexcept {
  return output_.size() + transport_->unsent_bytes();
}

void Http1OriginConnection::resume_body() {
  paused_ = false;
  pool_.worker().loop().defer_to_next_turn(next_turn_);
}

void Http1OriginConnection::start_tunnel() {
  request_framing_ = http1::Framing::tunnel;
  request_ended_ = false;
}

void Http1OriginConnection::release() {
  exchange_ = nullptr;
  reused_ = true;
  head_chunk_.reset();
  released_ = true;
  const bool tunnel = request_framing_ == http1::Framing::tunnel;
  if (!reusable_ && !tunnel) return pool_.remove(*this);
  // The end of a request whose response came early, or the last words of a tunnel, still have to go
  // out; flush() settles the matter then.
  if (is_flushed()) return settle();
  arm_write_stall();
  pool_.worker().loop().defer(turn_end_);
}

// For another exchange it is enough that the transport has everything; before the connection is
// closed, the peer's kernel must have it.
bool Http1OriginConnection::is_flushed() const noexcept {
  return reusable_ ? output_.empty() : backlog() == 0;
}

void Http1OriginConnection::settle() {
  released_ = false;
  write_stall_.arm(net::Duration::zero());
  if (!reusable_ || input_ended_ || !is_quiet()) return pool_.remove(*this);
  idle_since_ = pool_.worker().loop().now();
  pool_.put_idle(*this);
}

// The event that brought the end of the response may have brought more, of which no other event
// will tell: the end of the connection, or bytes that nobody asked for. Normally no system call.
bool Http1OriginConnection::is_quiet() {
  const bool quiet = transport_->read(input_.room()).status == net::ReadResult::Status::would_block;
  input_.release_if_empty();
  return quiet;
}

void Http1OriginConnection::abort() {
  // The origin shall see that this request has no taker any more.
  transport_->abort_on_close();
  pool_.remove(*this);
}

// ---- Events of the connection

void Http1OriginConnection::on_readable() {
  if (doomed_) return;
  if (exchange_ != nullptr && head_written_) return read_and_process();
  // The origin leaves, or says something that cannot be the answer to a request that is still here:
  // of no use any more. (With TLS, a session ticket also makes the connection readable; that is
  // harmless.)
  if (!transport_->is_stale()) return;
  if (exchange_ == nullptr) return pool_.remove(*this);
  fail(kSpokeFirst);
}

void Http1OriginConnection::on_turn_end() {
  if (!doomed_) flush();
}

// Reading goes on in the next turn, not in this one: an origin that always has more to send must
// not keep the loop from everybody else.
void Http1OriginConnection::on_next_turn() {
  if (!doomed_ && exchange_ != nullptr && head_written_) read_and_process();
}

void Http1OriginConnection::read_and_process() {
  for (std::size_t read = 0; read < kReadBudgetBytes;) {
    while (process()) {
    }
    if (exchange_ == nullptr || paused_ || reading_ == Reading::done || input_ended_) return;
    const auto result = transport_->read(input_.room());
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        input_.filled(result.bytes);
        response_seen_ = true;
        read += result.bytes;
        break;
      case net::ReadResult::Status::would_block:
        return input_.release_if_empty();
      case net::ReadResult::Status::end:
        return on_input_end(false);
      case net::ReadResult::Status::truncated:
        return on_input_end(true);
      case net::ReadResult::Status::failed: {
        Error error = response_seen_ ? kIncomplete : kClosedEarly;
        error.native = result.error.native;
        return fail(error);
      }
    }
  }
  pool_.worker().loop().defer_to_next_turn(next_turn_);
}

bool Http1OriginConnection::process() {
  if (exchange_ == nullptr || paused_) return false;
  switch (reading_) {
    case Reading::head:
      return process_head();
    case Reading::body:
      return process_body();
    case Reading::done:
      return false;
  }
  return false;
}

bool Http1OriginConnection::process_head() {
  if (input_.empty()) return false;
  http::ResponseHead& head = exchange_->response();
  head.clear();
  const auto parsed = parser_.parse(input_.unread(), method_, head, info_);
  if (!parsed) {
    fail(parsed.error());
    return false;
  }
  if (!*parsed) return false;
  head_chunk_ = input_.chunk();
  input_.consume(**parsed);
  parser_.reset();
  if (head.is_interim()) {
    exchange_->on_interim();
    return true;
  }
  reading_ = Reading::body;
  decoder_.start({.framing = info_.framing, .bytes = head.body.bytes});
  exchange_->on_response();
  head_chunk_.reset();
  return exchange_ != nullptr;
}

bool Http1OriginConnection::process_body() {
  const auto done = decode_body(input_, decoder_, body_, trailers_);
  if (!body_.empty()) exchange_->on_response_data(body_);
  if (exchange_ == nullptr) return false;
  if (!done) {
    fail(done.error());
    return false;
  }
  if (*done) end_response();
  return false;
}

void Http1OriginConnection::end_response() {
  reading_ = Reading::done;
  // Bytes behind the end of a response are either an answer to nothing or smuggled: what they mean
  // to the next request is for nobody to guess.
  reusable_ = info_.persistent && info_.framing != http1::Framing::tunnel && input_.empty();
  exchange_->on_response_end(trailers_, reusable_);
  trailers_.clear();
  input_.release_if_empty();  // Not before: the trailers are views into it.
}

void Http1OriginConnection::on_input_end(bool truncated) {
  input_ended_ = true;
  if (reading_ == Reading::body && !truncated && decoder_.end_of_input()) {
    return end_response();
  }
  fail(response_seen_ ? kIncomplete : kClosedEarly);
}

void Http1OriginConnection::flush() {
  if (!output_.empty()) {
    const std::size_t before = output_.size();
    if (const auto written = transport_->write(output_); !written) {
      return on_write_failed(written.error());
    }
    head_written_ = head_written_ || output_.size() < before;
  }
  const std::size_t waiting = backlog();
  if (waiting != stalled_bytes_) {
    stalled_bytes_ = waiting;
    arm_write_stall();
  }
  if (exchange_ != nullptr) exchange_->on_origin_writable();
  const bool half_closed = request_framing_ == http1::Framing::tunnel && request_ended_;
  if (half_closed && output_.empty() && !std::exchange(shut_down_, true)) {
    transport_->shutdown_write();
  }
  if (released_ && is_flushed()) settle();
}

void Http1OriginConnection::on_write_failed(Error error) {
  // The answer that explains why the origin reads no more may have arrived before its reset.
  if (exchange_ != nullptr && reading_ != Reading::done) read_and_process();
  if (doomed_) return;
  if (exchange_ == nullptr) return pool_.remove(*this);
  const std::int32_t native = error.native;
  error = response_seen_ ? kIncomplete : kClosedEarly;
  error.native = native;
  fail(error);
}

void Http1OriginConnection::arm_write_stall() {
  const bool waits = released_ || (stalled_bytes_ > 0 && exchange_ != nullptr);
  const net::Duration after = exchange_ != nullptr ? exchange_->idle_write_timeout()
                                                   : pool_.worker().options().timeouts.idle;
  write_stall_.arm(waits ? after : net::Duration::zero());
}

void Http1OriginConnection::on_writable() {
  if (!doomed_) flush();
}

void Http1OriginConnection::on_stalled() {
  const std::size_t waiting = backlog();
  if (waiting == stalled_bytes_ && (waiting > 0 || released_)) {
    return exchange_ != nullptr ? fail(kWriteStalled) : pool_.remove(*this);
  }
  stalled_bytes_ = waiting;
  arm_write_stall();
}

void Http1OriginConnection::fail(Error error) {
  if (doomed_ || exchange_ == nullptr) return;
  // RFC 9112 §9.3.1: a connection may be closed at any time. Without an answer nobody can tell
  // whether the origin has begun with the request.
  if (error.code == Code::closed && error.retry == Retry::never && !response_seen_) {
    error.retry = Retry::if_idempotent;
  }
  Exchange& exchange = *std::exchange(exchange_, nullptr);
  transport_->abort_on_close();
  pool_.remove(*this);
  exchange.on_origin_error(error);
}

}  // namespace titanium::proxy
