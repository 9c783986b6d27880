// SPDX-License-Identifier: MIT
#include "load/http2_connection.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/assert.h"

namespace titanium::probe {
namespace {

// What leaves with one write; the rest of a turn follows when the kernel has taken it.
constexpr std::size_t kOutputBytes = 256 * 1024;

// As much as clients allow that are made for throughput: a proxy is not to wait for us. A slow
// consumer has the window that HTTP/2 begins with, as its buffer is meant to fill up.
constexpr std::uint32_t kStreamWindow = 1024 * 1024;
constexpr std::uint32_t kConnectionWindow = 64 * 1024 * 1024;

const http::FieldList kNoTrailers;

Http2LoadStream& load_stream(http2::Stream& stream) noexcept {
  return static_cast<Http2LoadStream&>(stream);
}

http2::Options make_options(const Workload& workload) {
  http2::Options options;
  options.stream_window_bytes =
      workload.read_chunk_bytes > 0 ? http2::kDefaultWindow : kStreamWindow;
  options.connection_window_bytes = kConnectionWindow;
  // The peer is one that we started: whatever it does is to be measured, not punished.
  constexpr std::uint32_t kMany = 1'000'000'000;
  options.settings_frames = options.pings = options.empty_frames = options.priority_frames =
      options.window_updates = options.unknown_frames = kMany;
  return options;
}

http::RequestHead make_request(const ClientShared& shared) {
  const RequestPlan& plan = shared.plan;
  http::RequestHead head;
  head.version = http::Version::http2;
  head.method = plan.method;
  head.method_text = plan.method == http::Method::post ? "POST" : "GET";
  head.scheme = is_tls(shared.target.wire) ? "https" : "http";
  head.authority = plan.authority;
  head.path = plan.path;
  head.fields.add("user-agent", "rps-load-probe");
  switch (shared.workload.kind) {
    case Workload::Kind::websocket:
      head.upgrade = "websocket";  // Leaves as an extended CONNECT (RFC 8441 §4).
      head.fields.add("sec-websocket-version", "13");
      break;
    case Workload::Kind::grpc:
      // As gRPC clients do: the length is not told, and trailers are wanted.
      head.body = {.kind = http::BodyKind::streamed};
      head.accepts_trailers = true;
      head.fields.add("content-type", "application/grpc");
      break;
    case Workload::Kind::request:
      if (plan.body_bytes == 0) break;
      head.body = {.kind = http::BodyKind::sized, .bytes = plan.body_bytes};
      head.fields.add("content-type", "text/plain");
      break;
  }
  return head;
}

}  // namespace

Http2Connection::Http2Connection(const ClientShared& shared)
    : TransportConnection(shared, {.paced = false, .alpn = "h2"}),
      is_websocket_(shared.workload.kind == Workload::Kind::websocket),
      options_(make_options(shared.workload)),
      request_(make_request(shared)),
      body_(shared.pool) {}

Http2Connection::~Http2Connection() {
  codec_.reset();
  for (auto* list : {&live_, &waiting_, &tunnels_, &spare_}) {
    while (Http2LoadStream* stream = list->pop_front()) delete stream;
  }
}

// ---- Beginning

void Http2Connection::begin(Exchange& exchange) {
  if (Http2LoadStream* tunnel = tunnels_.pop_front()) {
    live_.push_back(*tunnel);
    tunnel->assign(exchange);
    return tunnel->send_message();
  }
  Http2LoadStream& stream = take_spare();
  stream.assign(exchange);
  if (!is_open() && !connect()) {
    live_.push_back(stream);
    return fail(stream, open_error());
  }
  if (!waiting_.empty() || !can_start()) {
    waiting_.push_back(stream);
    return schedule();
  }
  start(stream);
}

Http2LoadStream& Http2Connection::take_spare() {
  if (Http2LoadStream* spare = spare_.pop_front()) return *spare;
  return *new Http2LoadStream(*this, shared_);  // Owned by our lists.
}

bool Http2Connection::connect() {
  if (!open()) return false;
  used_up_ = false;
  http2::ConnectionHandler& handler = *this;  // Privately: make_unique() must not know.
  codec_ = std::make_unique<http2::Connection>(http2::Role::client, options_, shared_.pool, handler,
                                               net::Clock::now());
  schedule();
  return true;
}

bool Http2Connection::can_start() const noexcept {
  if (codec_ == nullptr || used_up_ || !codec_->can_open()) return false;
  // RFC 8441 §3: an extended CONNECT has to wait until the server has said that it takes one.
  return !is_websocket_ || codec_->peer_takes_extended_connect();
}

void Http2Connection::start(Http2LoadStream& stream) {
  live_.push_back(stream);
  stream.restart();
  codec_->send_request(stream, request_);
  const RequestPlan& plan = shared_.plan;
  if (!plan.message.empty()) {
    body_.append(plan.message);
  } else if (plan.body_bytes > 0) {
    push_pattern(body_, shared_.pattern, 0, plan.body_bytes);
  }
  if (!body_.empty()) {
    codec_->send_data(stream, body_);
    codec_->send_end(stream, kNoTrailers);
  }
  schedule();
}

void Http2Connection::start_waiting() {
  if (waiting_.empty()) return;
  if (codec_ != nullptr && is_websocket_ && codec_->received_settings() &&
      !codec_->peer_takes_extended_connect()) {
    return fail_all(waiting_, "the server takes no extended CONNECT (RFC 8441)");
  }
  if (!is_open() && !connect()) return fail_all(waiting_, open_error());
  while (can_start()) {
    Http2LoadStream* stream = waiting_.pop_front();
    if (stream == nullptr) return;
    start(*stream);
  }
}

// ---- Input and output

std::size_t Http2Connection::consume(std::string_view bytes) {
  const auto* const base = reinterpret_cast<const char*>(shared_.scratch.chunk->data());
  const auto begin = static_cast<std::uint32_t>(bytes.data() - base);
  const auto end = begin + static_cast<std::uint32_t>(bytes.size());
  const auto taken = codec_->receive({.chunk = shared_.scratch.chunk, .begin = begin, .end = end},
                                     net::Clock::now());
  if (taken) {
    schedule();
  } else {
    on_ended(fmt::format("bad frames: {}", taken.error().what));
  }
  return bytes.size();
}

void Http2Connection::on_turn_end() {
  if (used_up_ && live_.empty()) drop();
  // After GOAWAY those that wait go to another connection.
  if (codec_ != nullptr && codec_->is_draining() && live_.empty()) drop();
  start_waiting();
  if (!is_open() || codec_ == nullptr) return;
  if (is_sent()) codec_->produce(output(), kOutputBytes);
  flush();
}

void Http2Connection::on_sent() {
  if (codec_ != nullptr && !is_write_broken() && codec_->has_output()) schedule();
}

void Http2Connection::drop() noexcept {
  // Destroying it here could be from within its own call. Streams that it knows are another's then.
  for (auto* list : {&live_, &tunnels_}) {
    list->for_each([this](auto& stream) { codec_->reset(stream, http2::ErrorCode::cancel); });
  }
  tunnels_.for_each([this](auto& stream) { retire(stream); });
  shared_.loop.destroy_later(std::move(codec_));
  close();
}

void Http2Connection::on_ended(std::string_view what) {
  const bool drained = codec_ != nullptr && codec_->is_draining();
  drop();
  fail_all(live_, what);
  if (!drained) return fail_all(waiting_, what);
  // What waited for another connection may have it; once, as there may be no end to it.
  IntrusiveList<Http2LoadStream> refused;
  waiting_.for_each([&](auto& stream) {
    if (may_wait_again(stream)) return;
    stream.ListLink<Http2LoadStream>::unlink();
    refused.push_back(stream);
  });
  fail_all(refused, what);
  if (!waiting_.empty()) schedule();
}

bool Http2Connection::may_wait_again(Http2LoadStream& stream) {
  if (stream.was_returned()) return false;
  stream.note_returned();
  return true;
}

void Http2Connection::abandon() {
  if (codec_ != nullptr) drop();
  for (auto* list : {&live_, &waiting_}) {
    while (Http2LoadStream* stream = list->front()) {
      (void)stream->take_exchange();
      retire(*stream);
    }
  }
  close_hard();
}

// ---- What the codec says

void Http2Connection::on_response(http2::Stream& stream, bool ended) {
  load_stream(stream).on_answer(answer_, ended);
}

void Http2Connection::on_data(http2::Stream& stream, ChunkQueue& data) {
  load_stream(stream).on_piece(data);
}

void Http2Connection::on_end(http2::Stream& stream, const http::FieldList& trailers) {
  load_stream(stream).on_answer_end(trailers);
}

void Http2Connection::on_closed(http2::Stream& stream) { load_stream(stream).on_closed(); }

void Http2Connection::on_reset(http2::Stream& stream, const Error& error) {
  Http2LoadStream& own = load_stream(stream);
  // RFC 9113 §6.8: what GOAWAY leaves out was not processed, and belongs on another connection.
  if (error.retry == Retry::always && codec_->is_draining() && own.has_exchange() &&
      may_wait_again(own)) {
    own.ListLink<Http2LoadStream>::unlink();
    waiting_.push_back(own);
    return schedule();
  }
  own.on_reset(error);
}

// ---- What streams say

void Http2Connection::send(Http2LoadStream& stream, std::string_view bytes) {
  body_.append(bytes);
  codec_->send_data(stream, body_);
  schedule();
}

void Http2Connection::consumed(Http2LoadStream& stream, std::size_t bytes) {
  if (codec_ == nullptr) return;
  codec_->consumed(stream, bytes);
  schedule();
}

void Http2Connection::on_exchange_done(Http2LoadStream& stream) {
  Exchange& exchange = stream.take_exchange();
  if (stream.is_open_tunnel()) {
    stream.ListLink<Http2LoadStream>::unlink();
    tunnels_.push_back(stream);
  } else {
    retire(stream);
    if (!shared_.workload.keep_alive) {
      used_up_ = true;
      schedule();
    }
  }
  shared_.sink.on_exchange_ok(exchange);
}

void Http2Connection::on_stream_failed(Http2LoadStream& stream, std::string_view what) {
  fail(stream, what);
}

void Http2Connection::retire(Http2LoadStream& stream) {
  stream.restart();
  stream.ListLink<Http2LoadStream>::unlink();
  spare_.push_back(stream);
}

void Http2Connection::fail(Http2LoadStream& stream, std::string_view what) {
  if (codec_ != nullptr && stream.id() != 0) {
    codec_->reset(stream, http2::ErrorCode::cancel);
    schedule();
  }
  Exchange* const exchange = stream.has_exchange() ? &stream.take_exchange() : nullptr;
  retire(stream);
  if (!shared_.workload.keep_alive) used_up_ = true;
  if (exchange != nullptr) shared_.sink.on_exchange_failed(*exchange, what);
}

void Http2Connection::fail_all(IntrusiveList<Http2LoadStream>& streams, std::string_view what) {
  while (Http2LoadStream* stream = streams.front()) fail(*stream, stream->describe_end(what));
}

}  // namespace titanium::probe
