// SPDX-License-Identifier: MIT
#include "origin/http2_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "origin/content.h"
#include "origin/grpc.h"

namespace titanium::probe {
namespace {

using Kind = RequestRoute::Kind;

// What leaves with one write.
constexpr std::size_t kOutputBytes = 256 * 1024;

const http::FieldList kNoTrailers;

// The proxies are what is measured: they may open many streams and send as they like.
constexpr http2::Options make_options() {
  constexpr std::uint32_t kMany = 1'000'000'000;
  http2::Options options;
  options.stream_window_bytes = 1024 * 1024;
  options.connection_window_bytes = 64 * 1024 * 1024;
  options.incomplete_resets = options.settings_frames = options.pings = options.empty_frames =
      options.priority_frames = options.window_updates = options.unknown_frames = kMany;
  return options;
}
const http2::Options kOptions = make_options();

}  // namespace

std::unique_ptr<OriginSession> make_http2_session(const OriginShared& shared,
                                                  std::unique_ptr<net::Transport> transport) {
  return std::make_unique<Http2OriginSession>(shared, std::move(transport));
}

Http2OriginSession::Http2OriginSession(const OriginShared& shared,
                                       std::unique_ptr<net::Transport> transport)
    : shared_(shared),
      transport_(std::move(transport)),
      codec_(http2::Role::server, kOptions, shared.pool, *this, net::Clock::now()),
      body_(shared.pool),
      output_(shared.pool) {
  grpc_ok_.add("grpc-status", "0");
}

Http2OriginSession::~Http2OriginSession() {
  if (transport_ != nullptr) transport_->set_handler(nullptr);
  // The codec refers to the streams that are in use.
  live_.for_each([this](Stream& stream) { codec_.reset(stream, http2::ErrorCode::cancel); });
  for (auto* list : {&live_, &spare_}) {
    while (Stream* stream = list->pop_front()) delete stream;
  }
}

// ---- Input

void Http2OriginSession::start(std::string_view received) {
  transport_->set_handler(this);
  schedule();
  ChunkQueue input(shared_.pool);
  input.append(received);
  while (!input.empty()) {
    if (!deliver(input.take_front())) return;
  }
  read_all();
}

void Http2OriginSession::read_all() {
  ChunkRef chunk = shared_.scratch.chunk;
  while (transport_ != nullptr && !failed_) {
    const net::ReadResult result =
        transport_->read(std::span(chunk->data(), shared_.scratch.size()));
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        if (!deliver(
                {.chunk = chunk, .begin = 0, .end = static_cast<std::uint32_t>(result.bytes)})) {
          return;
        }
        break;
      case net::ReadResult::Status::would_block:
        return;
      case net::ReadResult::Status::end:
      case net::ReadResult::Status::truncated:
      case net::ReadResult::Status::failed:
        return close();
    }
  }
}

bool Http2OriginSession::deliver(const Slice& bytes) {
  failed_ = !codec_.receive(bytes, net::Clock::now()).has_value();
  schedule();
  return !failed_;
}

// ---- Requests

http2::Stream* Http2OriginSession::on_new_stream() {
  Stream* stream = spare_.pop_front();
  if (stream == nullptr) stream = new Stream(shared_.pool);  // Owned by our lists.
  live_.push_back(*stream);
  return stream;
}

void Http2OriginSession::retire(Stream& stream) {
  stream.answered = false;
  stream.seen = stream.pattern_left = 0;
  stream.held_back = 0;
  stream.message.clear();
  stream.partial.clear();
  stream.ListLink<Stream>::unlink();
  spare_.push_back(stream);
}

void Http2OriginSession::on_closed(http2::Stream& stream) { retire(static_cast<Stream&>(stream)); }

void Http2OriginSession::on_reset(http2::Stream& stream, const Error&) {
  retire(static_cast<Stream&>(stream));
}

void Http2OriginSession::on_refused_request(http2::Stream& stream, const Error& error) {
  refuse(static_cast<Stream&>(stream), error.status);
}

void Http2OriginSession::on_request(http2::Stream& base, bool ended) {
  auto& stream = static_cast<Stream&>(base);
  stream.route = find_route(request_.method, request_.path);
  stream.head_only = request_.method == http::Method::head;
  switch (stream.route.kind) {
    case Kind::unknown:
      return refuse(stream, 404);
    case Kind::websocket:
      if (!http::equals_ignore_case(request_.upgrade, "websocket")) return refuse(stream, 400);
      stream.answered = true;
      stream.websocket = {};
      answer_.clear();
      answer_.status = 101;  // Leaves as a 200 (RFC 8441 §5).
      answer_.body = {.kind = http::BodyKind::tunnel};
      return codec_.send_response(stream, answer_);
    case Kind::echo:
      stream.answered = true;
      send_head(stream, "text/plain",
                ended ? http::BodySize{.kind = http::BodyKind::sized} : request_.body);
      return;
    case Kind::early:
      if (stream.route.number == 0) return answer(stream);
      break;
    case Kind::tiny:
    case Kind::bytes:
    case Kind::grpc:
      break;
  }
  if (ended) end_request(stream);
}

void Http2OriginSession::on_data(http2::Stream& base, ChunkQueue& data) {
  auto& stream = static_cast<Stream&>(base);
  const std::size_t bytes = data.size();
  while (!data.empty()) {
    const std::string_view piece = as_text(data.front());
    on_piece(stream, piece);
    if (stream.id() == 0) return data.clear();
    data.consume(piece.size());
  }
  if (stream.queued_bytes() > http2::kQueueHigh) {
    stream.held_back += bytes;  // The window opens when the client has taken what waits for it.
  } else {
    codec_.consumed(stream, bytes);
  }
}

void Http2OriginSession::on_piece(Stream& stream, std::string_view piece) {
  stream.seen += piece.size();
  switch (stream.route.kind) {
    case Kind::echo:
      // Copied: the piece lies where the next read goes to.
      body_.append(piece);
      return codec_.send_data(stream, body_);
    case Kind::early:
      if (!stream.answered && stream.seen >= stream.route.number) answer(stream);
      return;
    case Kind::websocket:
      return echo_frames(stream, piece);
    case Kind::grpc:
      if (stream.seen <= kMaxGrpcBytes) stream.message.append(piece);
      return;
    case Kind::tiny:
    case Kind::bytes:
    case Kind::unknown:
      return;
  }
}

void Http2OriginSession::on_end(http2::Stream& base, const http::FieldList&) {
  end_request(static_cast<Stream&>(base));
}

void Http2OriginSession::end_request(Stream& stream) {
  switch (stream.route.kind) {
    case Kind::echo:
    case Kind::websocket:
      return codec_.send_end(stream, kNoTrailers);
    case Kind::grpc:
      return answer_grpc(stream);
    case Kind::tiny:
    case Kind::bytes:
    case Kind::early:
    case Kind::unknown:
      if (!stream.answered) answer(stream);
      return;
  }
}

void Http2OriginSession::echo_frames(Stream& stream, std::string_view piece) {
  const bool continued = !stream.partial.empty();
  if (continued) {
    stream.partial.append(piece);
    piece = stream.partial;
  }
  const auto used = stream.websocket.take(piece, body_);
  codec_.send_data(stream, body_);
  if (!used) {
    codec_.reset(stream, http2::ErrorCode::protocol_error);
    return retire(stream);
  }
  if (stream.websocket.is_closed()) codec_.send_end(stream, kNoTrailers);
  if (continued) {
    stream.partial.erase(0, *used);
  } else {
    stream.partial.assign(piece.substr(*used));
  }
}

// ---- Answers

void Http2OriginSession::send_head(Stream& stream, std::string_view content_type,
                                   const http::BodySize& body) {
  answer_.clear();
  answer_.status = 200;
  answer_.body = body;
  answer_.fields.add("server", "probe-origin", {}, http::KnownField::server);
  answer_.fields.add("date", shared_.answers.date(shared_.loop.wall_seconds()), {},
                     http::KnownField::date);
  answer_.fields.add("content-type", content_type, {}, http::KnownField::other);
  codec_.send_response(stream, answer_);
}

void Http2OriginSession::answer(Stream& stream) {
  stream.answered = true;
  const bool sized = stream.route.kind == Kind::bytes || stream.route.answer_bytes.has_value();
  const std::uint64_t bytes =
      sized ? stream.route.answer_bytes.value_or(stream.route.number) : kTinyJson.size();
  const std::string_view type = sized ? "text/plain" : "application/json";
  if (stream.head_only) {
    return send_head(stream, type, {});
  }
  send_head(stream, type, {.kind = http::BodyKind::sized, .bytes = bytes});
  if (bytes == 0) return;  // The head was the end.
  if (!sized) {
    body_.append(kTinyJson);
    codec_.send_data(stream, body_);
    return codec_.send_end(stream, kNoTrailers);
  }
  stream.pattern_at = 0;
  stream.pattern_left = bytes;
  fill(stream);
}

void Http2OriginSession::fill(Stream& stream) {
  const std::uint64_t part = std::min<std::uint64_t>(stream.pattern_left, 2 * http2::kQueueHigh);
  push_pattern(body_, shared_.pattern, stream.pattern_at, part);
  stream.pattern_at += part;
  stream.pattern_left -= part;
  codec_.send_data(stream, body_);
  if (stream.pattern_left == 0) codec_.send_end(stream, kNoTrailers);
}

void Http2OriginSession::on_stream_writable(http2::Stream& base) {
  auto& stream = static_cast<Stream&>(base);
  if (stream.pattern_left > 0) fill(stream);
  if (stream.held_back == 0) return;
  codec_.consumed(stream, std::exchange(stream.held_back, 0));
  schedule();
}

void Http2OriginSession::answer_grpc(Stream& stream) {
  std::array<char, kGrpcPrefixBytes> prefix{};
  std::size_t copied = 0;
  const Bytes front = stream.message.front();
  copied = std::min(prefix.size(), front.size());
  std::ranges::copy(as_text(front).substr(0, copied), prefix.begin());
  const bool good = is_one_grpc_message({prefix.data(), copied}, stream.seen);
  send_head(stream, "application/grpc", {.kind = http::BodyKind::streamed});
  if (good) {
    codec_.send_data(stream, stream.message);
    return codec_.send_end(stream, grpc_ok_);
  }
  http::FieldList trailers;
  trailers.add("grpc-status", "13");  // INTERNAL: the framing is wrong.
  codec_.send_end(stream, trailers);
}

void Http2OriginSession::refuse(Stream& stream, std::uint16_t status) {
  stream.answered = true;
  stream.route = {};
  answer_.clear();
  answer_.status = status;
  answer_.body = {.kind = http::BodyKind::sized, .bytes = 0};
  codec_.send_response(stream, answer_);
}

// ---- Output

void Http2OriginSession::flush() {
  if (transport_ == nullptr) return;
  do {
    if (output_.empty()) codec_.produce(output_, kOutputBytes);
    if (output_.empty()) break;
    if (!transport_->write(output_)) return close();
  } while (output_.empty());
  if (failed_ && output_.empty()) close();
}

void Http2OriginSession::close() {
  if (transport_ == nullptr) return;
  transport_->set_handler(nullptr);
  shared_.loop.destroy_later(std::move(transport_));
  shared_.owner.remove(*this);
}

}  // namespace titanium::probe
