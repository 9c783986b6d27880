// SPDX-License-Identifier: MIT
#include "origin/http1_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "http1/serializer.h"
#include "origin/content.h"

namespace titanium::probe {

std::unique_ptr<OriginSession> make_http1_session(const OriginShared& shared,
                                                  std::unique_ptr<net::Transport> transport) {
  return std::make_unique<Http1OriginSession>(shared, std::move(transport));
}

Http1OriginSession::Http1OriginSession(const OriginShared& shared,
                                       std::unique_ptr<net::Transport> transport)
    : shared_(shared),
      transport_(std::move(transport)),
      output_(shared.pool),
      echo_(shared.pool),
      linger_(shared.loop, *this) {}

Http1OriginSession::~Http1OriginSession() {
  if (transport_ != nullptr) transport_->set_handler(nullptr);
}

void Http1OriginSession::start(std::string_view received) {
  transport_->set_handler(this);
  if (received.empty() || deliver(received)) read_all();
}

// Reading ---------------------------------------------------------------------------------------

void Http1OriginSession::read_all() {
  while (!is_congested() && transport_ != nullptr) {
    const std::span room(shared_.scratch.chunk->data(), shared_.scratch.size());
    const net::ReadResult result = transport_->read(room);
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        if (!deliver(as_text(room.first(result.bytes)))) return;
        break;
      case net::ReadResult::Status::would_block:
        return;
      case net::ReadResult::Status::end:
        if (output_.empty()) return close();
        // What was asked for before the client ended its direction is still answered.
        peer_ended_ = true;
        state_ = State::closing;
        return;
      case net::ReadResult::Status::truncated:
      case net::ReadResult::Status::failed:
        return close();
    }
  }
}

bool Http1OriginSession::deliver(std::string_view bytes) {
  const bool continued = !pending_.empty();
  if (continued) {
    pending_.append(bytes);
    bytes = pending_;
  }
  const std::size_t used = consume(bytes);
  if (continued) {
    pending_.erase(0, used);
  } else if (used < bytes.size()) {
    pending_.assign(bytes.substr(used));
  }
  flush();
  return resume();
}

bool Http1OriginSession::resume() {
  while (transport_ != nullptr && held_back_ && !is_congested()) {
    held_back_ = false;
    const std::string waiting = std::exchange(pending_, {});
    pending_ = waiting.substr(consume(waiting));
    flush();
  }
  return transport_ != nullptr;
}

std::size_t Http1OriginSession::consume(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    const std::string_view rest = bytes.substr(used);
    std::size_t step = 0;
    switch (state_) {
      case State::head:
        if (!hold_back()) step = take_head(rest);
        break;
      case State::body:
        step = take_body(rest);
        break;
      case State::websocket:
        step = take_frames(rest);
        break;
      case State::closing:
        step = rest.size();
        break;
    }
    if (step == 0 && state_ != State::closing) break;
    used += step;
  }
  return used;
}

bool Http1OriginSession::hold_back() noexcept {
  held_back_ = is_congested();
  return held_back_;
}

std::size_t Http1OriginSession::take_head(std::string_view bytes) {
  std::size_t length = last_head_.size();
  if (length == 0 || !bytes.starts_with(last_head_)) length = parse_head(bytes);
  if (length == 0) return 0;
  parser_.reset();
  start_request();
  return length;
}

std::size_t Http1OriginSession::parse_head(std::string_view bytes) {
  http1::ConnectionInfo info;
  const auto parsed = parser_.parse(bytes, head_, info);
  if (!parsed) {
    refuse("400 Bad Request");
    return 0;
  }
  if (!*parsed) return 0;
  request_ = {.route = find_route(head_.method, head_.path),
              .framing = {.framing = info.framing, .bytes = head_.body.bytes},
              // HTTP/1.0 is served, but each request on a connection of its own.
              .persistent = info.persistent && head_.version == http::Version::http11,
              .head_only = head_.method == http::Method::head,
              .expects_continue = head_.expects_continue};
  if (request_.route.kind == RequestRoute::Kind::websocket) {
    const http::Field* const key = head_.fields.find("sec-websocket-key");
    const bool asks = http::list_contains(head_.upgrade, "websocket") && key != nullptr;
    websocket_key_ = asks ? std::string(key->value) : std::string();
  }
  last_head_.assign(bytes.substr(0, **parsed));
  return **parsed;
}

std::size_t Http1OriginSession::take_body(std::string_view bytes) {
  // An echo grows with what is read; everything else is only counted.
  if (request_.route.kind == RequestRoute::Kind::echo && hold_back()) return 0;
  const auto step = body_.next(bytes, trailers_);
  if (!step) {
    refuse("400 Bad Request");
    return 0;
  }
  if (step->data > 0) on_body(bytes.substr(step->overhead, step->data));
  if (step->done) end_request();
  return step->overhead + step->data;
}

std::size_t Http1OriginSession::take_frames(std::string_view bytes) {
  if (hold_back()) return 0;
  const auto used = websocket_.take(bytes, output_);
  if (!used || websocket_.is_closed()) state_ = State::closing;
  return used.value_or(0);
}

// Requests --------------------------------------------------------------------------------------

void Http1OriginSession::start_request() {
  answered_ = false;
  body_seen_ = 0;
  // gRPC needs trailers, and is not asked for without HTTP/2.
  if (request_.route.kind == RequestRoute::Kind::unknown ||
      request_.route.kind == RequestRoute::Kind::grpc) {
    return refuse("404 Not Found");
  }
  if (request_.route.kind == RequestRoute::Kind::websocket) return accept_websocket();
  if (request_.framing.framing == http1::Framing::none) return end_request();
  if (request_.expects_continue) output_.append("HTTP/1.1 100 Continue\r\n\r\n");
  state_ = State::body;
  body_.start(request_.framing);
  if (request_.route.kind == RequestRoute::Kind::echo) start_echo();
  if (request_.route.kind == RequestRoute::Kind::early && request_.route.number == 0) answer();
  if (body_.done()) end_request();
}

void Http1OriginSession::start_echo() {
  const bool chunked = request_.framing.framing == http1::Framing::chunked;
  output_.append(shared_.answers.head({.json = false,
                                       .close = !request_.persistent,
                                       .chunked = chunked,
                                       .length = request_.framing.bytes},
                                      now()));
  answered_ = true;
}

void Http1OriginSession::on_body(std::string_view piece) {
  body_seen_ += piece.size();
  if (request_.route.kind == RequestRoute::Kind::echo) {
    if (request_.framing.framing == http1::Framing::chunked) {
      echo_.append(piece);
      http1::write_chunk(output_, echo_);
    } else {
      output_.append(piece);
    }
  } else if (request_.route.kind == RequestRoute::Kind::early && !answered_ &&
             body_seen_ >= request_.route.number) {
    answer();
  }
}

void Http1OriginSession::end_request() {
  if (!answered_) answer();
  if (request_.route.kind == RequestRoute::Kind::echo &&
      request_.framing.framing == http1::Framing::chunked) {
    http1::write_last_chunk(output_, {});
  }
  state_ = request_.persistent ? State::head : State::closing;
}

void Http1OriginSession::answer() {
  answered_ = true;
  const bool close = !request_.persistent;
  const bool sized =
      request_.route.kind == RequestRoute::Kind::bytes || request_.route.answer_bytes.has_value();
  if (!sized && !request_.head_only && request_.route.kind != RequestRoute::Kind::echo) {
    output_.append(shared_.answers.tiny(close, now()));
    return;
  }
  // An echo comes here only for a request without a body: the echo of nothing.
  const bool json = !sized && request_.route.kind != RequestRoute::Kind::echo;
  const std::uint64_t length = sized  ? request_.route.answer_bytes.value_or(request_.route.number)
                               : json ? kTinyJson.size()
                                      : 0;
  output_.append(shared_.answers.head({.json = json, .close = close, .length = length}, now()));
  if (!sized || request_.head_only) return;
  pattern_at_ = 0;
  pattern_left_ = length;
  fill();
}

void Http1OriginSession::accept_websocket() {
  if (websocket_key_.empty()) return refuse("400 Bad Request");
  output_.append(fmt::format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: {}\r\n\r\n",
      websocket::accept_of(websocket_key_)));
  state_ = State::websocket;
}

void Http1OriginSession::refuse(std::string_view status_line) {
  output_.append(fmt::format(
      "HTTP/1.1 {}\r\nServer: probe-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
      status_line));
  pattern_left_ = 0;
  state_ = State::closing;
}

// Writing ---------------------------------------------------------------------------------------

// Queues more of /bytes/N: slices of one chunk, whatever N is.
void Http1OriginSession::fill() {
  if (pattern_left_ == 0 || output_.size() >= kHighWaterBytes) return;
  const std::uint64_t part =
      std::min<std::uint64_t>(pattern_left_, kHighWaterBytes - output_.size());
  push_pattern(output_, shared_.pattern, pattern_at_, part);
  pattern_at_ += part;
  pattern_left_ -= part;
}

void Http1OriginSession::flush() {
  if (transport_ == nullptr) return;
  while (!output_.empty()) {
    if (!transport_->write(output_)) return close();
    if (!output_.empty()) return;
    fill();
  }
  finish_output();
}

void Http1OriginSession::finish_output() {
  if (state_ != State::closing || linger_.is_armed()) return;
  if (peer_ended_) return close();
  // The client reads the answer and closes. Closing first, with its bytes unread, would reset the
  // connection and could take the answer away from it (RFC 9112 §9.6).
  transport_->shutdown_write();
  linger_.arm(kLinger);
}

void Http1OriginSession::on_writable() {
  flush();
  if (resume()) read_all();
}

void Http1OriginSession::close() {
  if (transport_ == nullptr) return;
  transport_->set_handler(nullptr);
  shared_.loop.destroy_later(std::move(transport_));
  shared_.owner.remove(*this);
}

}  // namespace titanium::probe
