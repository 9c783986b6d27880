// SPDX-License-Identifier: MIT
#include "proxy/client/http2_client_session.h"

#include <utility>

#include "base/assert.h"
#include "proxy/websocket_handshake.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr Error kReaderStalled{
    .code = Code::timed_out, .side = Side::client, .what = "the client stopped reading"};
constexpr Error kBadSwitch{.code = Code::protocol,
                           .side = Side::origin,
                           .what = "Sec-WebSocket-Accept of the origin is wrong (RFC 6455)"};
constexpr Error kBodyTimeout{
    .code = Code::timed_out,
    .side = Side::client,
    .what =
        "the request body came too slowly (timeouts.connectionTimeOutSeconds, "
        "limits.minRequestBodyBytesPerSecond)"};

// A body that nobody wants is read up to here, before the client is told to stop.
constexpr std::uint64_t kDiscardBytes = 1024 * 1024;

const http::FieldList kNoTrailers;

}  // namespace

// ---- Stream: commands of the exchange

Http2ClientStream::Http2ClientStream(Http2ClientSession& session, ChunkPool& pool)
    : http2::Stream(pool), session_(session), inbound_(pool) {}

void Http2ClientStream::send_interim(const http::ResponseHead& head) {
  if (!opened_) return;
  session_.codec().send_response(*this, head);
  session_.link_.schedule();
}

void Http2ClientStream::send_head(const http::ResponseHead& head) {
  response_begun_ = true;
  // An HTTP/1 origin has to prove that it means WebSocket (RFC 6455 §4.1).
  if (head.status == 101 && head.version != http::Version::http2) {
    const http::Field* accept = head.fields.find("sec-websocket-accept");
    if (accept == nullptr || accept->value != websocket_accept_value(websocket_key_)) {
      bad_switch_ = true;
      return session_.settle_later(*this);
    }
  }
  send_interim(head);
}

void Http2ClientStream::send_body(ChunkQueue& data) {
  if (!opened_ || bad_switch_) return data.clear();
  session_.codec().send_data(*this, data);
  session_.link_.schedule();
}

void Http2ClientStream::send_end(const http::FieldList& trailers) {
  response_done_ = true;
  if (opened_ && !bad_switch_) session_.codec().send_end(*this, trailers);
  session_.settle_later(*this);
}

void Http2ClientStream::abort(const Error& error) {
  session_.worker_.logger().log(LogLevel::debug, "response to {} cut short: {}", session_.info_.ip,
                                error.what);
  response_done_ = request_done_ = true;
  // RFC 8441 §5: CANCEL stands for the reset of a TCP connection.
  session_.reset(*this, tunnel_ ? http2::ErrorCode::cancel : http2::ErrorCode::internal_error);
  session_.settle_later(*this);
}

std::size_t Http2ClientStream::backlog() const noexcept { return queued_bytes(); }

void Http2ClientStream::resume_body() {
  paused_ = false;
  if (inbound_.data().empty() && !inbound_.has_ended()) return;
  resumed_ = true;
  session_.worker_.loop().defer_to_next_turn(session_.next_turn_);
}

void Http2ClientStream::discard_body() {
  discarding_ = true;
  const std::size_t kept = inbound_.data().size();
  inbound_.data().clear();
  if (opened_ && kept > 0) session_.codec().consumed(*this, kept);
  session_.settle_later(*this);
}

void Http2ClientStream::release_head() {
  if (opened_) session_.codec().release_head(*this);
}

void Http2ClientStream::start_tunnel() {
  tunnel_ = true;
  request_done_ = false;
  resume_body();
}

// ---- Session

Http2ClientSession::Http2ClientSession(Worker& worker, std::unique_ptr<net::Transport> transport,
                                       InputBuffer received, ClientInfo info,
                                       AdmissionTicket ticket)
    : ClientConnection(std::move(ticket)),
      worker_(worker),
      info_(std::move(info)),
      link_(worker, std::move(transport), std::move(received), http2::Role::server, *this, *this,
            Side::client),
      tick_(worker.loop(), *this) {}

Http2ClientSession::~Http2ClientSession() {
  link_.disown();
  // Only at a hard stop exchanges are still running here.
  fail_streams({.code = Code::closed, .side = Side::self, .what = "shutting down"});
  for (auto* list : {&ending_, &spare_}) {
    while (Http2ClientStream* stream = list->pop_front()) {
      if (stream->exchange_ != nullptr) worker_.give_back(*stream->exchange_);
      delete stream;
    }
  }
}

void Http2ClientSession::start() {
  link_.start();
  tick_.arm(worker_.options().timeouts.idle);
}

void Http2ClientSession::drain() {
  codec().start_drain();
  link_.schedule();
}

// ---- Events of the codec

http2::Stream* Http2ClientSession::on_new_stream() {
  Http2ClientStream* stream = spare_.pop_front();
  if (stream != nullptr) {
    --spare_count_;
  } else {
    stream = new Http2ClientStream(*this, worker_.chunks());  // Owned by our lists.
  }
  live_.push_back(*stream);
  stream->exchange_ = &worker_.take_exchange();
  stream->opened_ = stream->paused_ = true;
  used_since_tick_ = true;
  return stream;
}

http::RequestHead& Http2ClientSession::request_of(http2::Stream& stream) {
  return as_ours(stream).exchange_->request();
}

http::ResponseHead& Http2ClientSession::response_of(http2::Stream& /*stream*/) {
  return no_response_;
}

void Http2ClientSession::on_request(http2::Stream& stream, bool ended) {
  Http2ClientStream& ours = as_ours(stream);
  Exchange& exchange = *ours.exchange_;
  // An extended CONNECT stays open for what follows the switch; as a request it is complete.
  ours.upgrades_ = !exchange.request().upgrade.empty();
  if (ours.upgrades_) start_upgrade(ours);
  exchange.start(ours, info_);
  // If the client has nothing to say, the tunnel hears that once it exists.
  if (ended && ours.upgrades_) ours.inbound_.keep_end(kNoTrailers);
  if (ended || ours.upgrades_) end_request(ours, kNoTrailers);
}

// To the exchange an upgrade looks as in HTTP/1; an HTTP/2 origin is sent no key.
void Http2ClientSession::start_upgrade(Http2ClientStream& stream) {
  stream.websocket_key_ = make_websocket_key();
  stream.exchange_->request().fields.add("Sec-WebSocket-Key", stream.websocket_key_);
}

void Http2ClientSession::on_refused_request(http2::Stream& stream, const Error& error) {
  Http2ClientStream& ours = as_ours(stream);
  ours.exchange_->reject(ours, info_, error);
}

void Http2ClientSession::on_data(http2::Stream& stream, ChunkQueue& data) {
  Http2ClientStream& ours = as_ours(stream);
  ours.window_bytes_ += data.size();
  const bool waits_for_tunnel = ours.upgrades_ && !ours.tunnel_;
  if (ours.discarding_ || ours.exchange_ == nullptr) {
    ours.discarded_bytes_ += data.size();
    codec().consumed(ours, data.size());
    data.clear();
    // RFC 9113 §8.1: the answer is complete, and the rest of the request is of no use.
    if (ours.response_done_ && ours.queued_bytes() == 0 && ours.discarded_bytes_ > kDiscardBytes) {
      reset(ours, http2::ErrorCode::no_error);
      settle_later(ours);
    }
    return;
  }
  if (ours.paused_ || waits_for_tunnel || !ours.inbound_.data().empty()) {
    return ours.inbound_.data().append(data);
  }
  deliver_data(ours, data);
}

void Http2ClientSession::deliver_data(Http2ClientStream& stream, ChunkQueue& data) {
  const std::size_t bytes = data.size();
  stream.exchange_->on_request_data(data);
  data.clear();
  if (stream.opened_) codec().consumed(stream, bytes);
}

void Http2ClientSession::on_end(http2::Stream& stream, const http::FieldList& trailers) {
  Http2ClientStream& ours = as_ours(stream);
  const bool waits_for_tunnel = ours.upgrades_ && !ours.tunnel_;
  // Trailers need somewhere to go, as the body does.
  const bool keep = waits_for_tunnel || !ours.inbound_.data().empty() ||
                    (ours.paused_ && !trailers.empty() && !ours.discarding_);
  if (keep) return ours.inbound_.keep_end(trailers);
  end_request(ours, trailers);
}

void Http2ClientSession::end_request(Http2ClientStream& stream, const http::FieldList& trailers) {
  if (std::exchange(stream.request_done_, true)) return;
  if (!stream.discarding_ && stream.exchange_ != nullptr) {
    stream.exchange_->on_request_end(trailers);
  }
  settle_later(stream);
}

// What was kept while the exchange was paused, or not yet a tunnel.
void Http2ClientSession::deliver(Http2ClientStream& stream) {
  if (stream.exchange_ == nullptr || stream.paused_) return;
  if (stream.upgrades_ && !stream.tunnel_) return;
  if (ChunkQueue& data = stream.inbound_.data(); !data.empty()) deliver_data(stream, data);
  if (stream.exchange_ == nullptr || !stream.inbound_.has_ended()) return;
  http::FieldList& trailers = worker_.trailers();
  stream.inbound_.get_trailers(trailers);
  end_request(stream, trailers);
  trailers.clear();
}

void Http2ClientSession::on_stream_writable(http2::Stream& stream) {
  Exchange* exchange = as_ours(stream).exchange_;
  if (exchange != nullptr) exchange->on_client_writable();
}

void Http2ClientSession::on_closed(http2::Stream& stream) {
  as_ours(stream).opened_ = false;
  settle_later(as_ours(stream));
}

void Http2ClientSession::on_reset(http2::Stream& stream, const Error& error) {
  Http2ClientStream& ours = as_ours(stream);
  ours.opened_ = false;
  ours.request_done_ = ours.response_done_ = true;
  if (ours.exchange_ != nullptr) ours.exchange_->on_client_gone(error);
  settle_later(ours);
}

void Http2ClientSession::on_goaway() {}  // The client's streams finish; it opens no more.

void Http2ClientSession::reset(Http2ClientStream& stream, http2::ErrorCode code) {
  if (!std::exchange(stream.opened_, false)) return;
  codec().reset(stream, code);
  link_.schedule();
}

// ---- The end of a stream

void Http2ClientSession::settle_later(Http2ClientStream& stream) {
  auto& link = static_cast<ListLink<Http2ClientStream>&>(stream);
  link.unlink();
  ending_.push_back(stream);
  link_.schedule();
}

// Gives back what the stream does not need any more: its exchange, and at last itself.
void Http2ClientSession::settle(Http2ClientStream& stream) {
  if (std::exchange(stream.bad_switch_, false)) {
    stream.request_done_ = stream.response_done_ = true;
    reset(stream, http2::ErrorCode::connect_error);
    if (stream.exchange_ != nullptr) stream.exchange_->on_client_gone(kBadSwitch);
  }
  if (stream.exchange_ != nullptr && stream.response_done_ && !stream.exchange_->is_running()) {
    worker_.give_back(*std::exchange(stream.exchange_, nullptr));
    stream.discarding_ = true;
  }
  if (stream.opened_ || stream.exchange_ != nullptr) return live_.push_back(stream);
  stream.inbound_.clear();
  stream.request_done_ = stream.response_done_ = stream.response_begun_ = false;
  stream.upgrades_ = stream.tunnel_ = false;
  stream.was_paused_ = stream.resumed_ = stream.discarding_ = false;
  stream.seen_by_tick_ = stream.had_queue_ = false;
  stream.window_bytes_ = stream.discarded_bytes_ = stream.stalled_at_ = 0;
  if (spare_count_ >= kKeptStreams) {
    delete &stream;
    return;
  }
  ++spare_count_;
  spare_.push_front(stream);
}

void Http2ClientSession::fail_streams(const Error& error) {
  live_.for_each([&](Http2ClientStream& stream) { settle_later(stream); });
  ending_.for_each([&](Http2ClientStream& stream) {
    stream.opened_ = false;
    stream.request_done_ = stream.response_done_ = true;
    if (stream.exchange_ != nullptr) stream.exchange_->on_client_gone(error);
  });
}

// ---- Events of the link

void Http2ClientSession::on_link_failed(const Error& error) {
  link_.log_fault(error, info_.ip);
  fail_streams(error);
}

void Http2ClientSession::on_link_closed() {
  if (!is_doomed()) worker_.remove(*this);
}

void Http2ClientSession::settle_all() {
  while (Http2ClientStream* stream = ending_.pop_front()) settle(*stream);
}

void Http2ClientSession::on_link_progress() {
  settle_all();
  if (codec().is_draining() && live_.empty()) link_.close();
}

void Http2ClientSession::on_next_turn() {
  if (is_doomed()) return;
  settle_all();
  live_.for_each([this](Http2ClientStream& stream) {
    if (std::exchange(stream.resumed_, false)) deliver(stream);
  });
  link_.schedule();
}

// ---- Time

void Http2ClientSession::on_tick() {
  if (is_doomed() || link_.is_closing()) return;
  if (live_.empty() && ending_.empty() && !std::exchange(used_since_tick_, false)) {
    codec().start_drain();
    return link_.close();
  }
  used_since_tick_ = false;
  settle_all();
  live_.for_each([this](Http2ClientStream& stream) { look_at(stream); });
  tick_.arm(worker_.options().timeouts.idle);
}

// Judged once per tick over what happened since the last one: a byte now and then does not help.
void Http2ClientSession::look_at(Http2ClientStream& stream) {
  const bool whole_tick = std::exchange(stream.seen_by_tick_, true);
  // A stream that waits for its turn behind more urgent ones is not the client's fault.
  const bool has_queue =
      stream.waits_for_window() || (stream.queued_bytes() > 0 && codec().send_window_is_closed());
  const bool stuck = std::exchange(stream.had_queue_, has_queue) && has_queue &&
                     stream.produced_bytes() == stream.stalled_at_;
  const bool too_slow = whole_tick && is_body_too_slow(stream);
  stream.stalled_at_ = stream.produced_bytes();
  stream.window_bytes_ = 0;
  stream.was_paused_ = stream.paused_;
  if (stuck) {
    worker_.logger().log(LogLevel::debug, "client {} stopped reading a stream", info_.ip);
    stream.request_done_ = stream.response_done_ = true;
    reset(stream, http2::ErrorCode::cancel);
    if (stream.exchange_ != nullptr) stream.exchange_->on_client_gone(kReaderStalled);
    return settle_later(stream);
  }
  if (whole_tick && stream.exchange_ == nullptr && stream.queued_bytes() == 0) {
    // Answered long ago, and the client does not end its request.
    reset(stream, http2::ErrorCode::no_error);
    return settle_later(stream);
  }
  if (too_slow && stream.exchange_ != nullptr) stream.exchange_->on_request_error(kBodyTimeout);
}

bool Http2ClientSession::is_body_too_slow(const Http2ClientStream& stream) const {
  const bool waits = stream.request_done_ || stream.was_paused_ || stream.upgrades_;
  if (waits || stream.discarding_) return false;
  // Once the response has begun the two may talk to each other, and it is the response's turn.
  if (stream.response_begun_ && stream.produced_bytes() != stream.stalled_at_) return false;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(worker_.options().timeouts.idle).count();
  const std::uint64_t rate = worker_.options().limits.request_body_bytes_per_second;
  return stream.window_bytes_ == 0 ||
         (!stream.response_begun_ &&
          stream.window_bytes_ < rate * static_cast<std::uint64_t>(seconds));
}

}  // namespace titanium::proxy
