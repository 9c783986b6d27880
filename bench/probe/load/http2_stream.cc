// SPDX-License-Identifier: MIT
#include "load/http2_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/field.h"
#include "http2/frames/frame.h"

namespace titanium::probe {

Http2LoadStream::Http2LoadStream(Http2StreamOwner& owner, const ClientShared& shared)
    : http2::Stream(shared.pool), owner_(owner), shared_(shared), check_(shared.plan.make_check()) {
  if (shared.workload.kind == Workload::Kind::websocket) {
    echo_ = std::make_unique<EchoCheck>(shared.workload.message_bytes);
  }
}

Http2LoadStream::~Http2LoadStream() { shared_.alarms.cancel(*this); }

void Http2LoadStream::assign(Exchange& exchange) noexcept {
  exchange_ = &exchange;
  returned_ = false;
}

void Http2LoadStream::restart() noexcept {
  phase_ = Phase::head;
  closed_ = false;
  check_.restart();
  if (std::exchange(paused_, false)) shared_.alarms.cancel(*this);
  unread_ = 0;
  portion_ = shared_.workload.read_chunk_bytes;
  if (echo_) echo_->restart();
  partial_.clear();
}

// ---- The answer

void Http2LoadStream::on_answer(const http::ResponseHead& head, bool ended) {
  if (head.is_interim()) return;
  if (echo_ != nullptr) {
    if (head.status != 101) return fail(fmt::format("status {} to the upgrade", head.status));
    phase_ = Phase::tunnel;
    return send_message();
  }
  if (head.status < 200 || head.status > 299) return fail(fmt::format("status {}", head.status));
  phase_ = Phase::body;
  if (ended) end_answer(head.fields);  // gRPC: the head has the status then.
}

void Http2LoadStream::on_piece(ChunkQueue& data) {
  if (phase_ == Phase::head) {
    data.clear();
    return fail("a body before the answer");
  }
  std::size_t bytes = 0;
  while (!data.empty()) {
    const std::string_view piece = as_text(data.front());
    bytes += piece.size();
    if (phase_ == Phase::tunnel) {
      take_frames(piece);
    } else if (!check_.take(piece)) {
      fail(fmt::format("wrong content after {} bytes", check_.seen()));
    }
    if (id() == 0) return data.clear();  // It failed, and was reset.
    data.consume(piece.size());
  }
  if (shared_.workload.read_chunk_bytes > 0 && phase_ == Phase::body) return read_slowly(bytes);
  owner_.consumed(*this, bytes);
}

void Http2LoadStream::on_answer_end(const http::FieldList& trailers) {
  if (phase_ == Phase::tunnel) return fail("the WebSocket was closed");
  end_answer(trailers);
}

void Http2LoadStream::end_answer(const http::FieldList& fields) {
  phase_ = Phase::ended;
  if (shared_.workload.kind == Workload::Kind::grpc) {
    const http::Field* const status = fields.find("grpc-status");
    if (status == nullptr) return fail("no grpc-status");
    if (status->value != "0") return fail(fmt::format("grpc-status {}", status->value));
  }
  if (!check_.is_complete()) fail(fmt::format("the answer has only {} bytes", check_.seen()));
}

void Http2LoadStream::on_closed() {
  closed_ = true;
  finish_if_complete();
}

// RFC 9113 §8.1: after a complete answer the peer may refuse the rest of the request.
void Http2LoadStream::on_reset(const Error& error) {
  const auto code = static_cast<http2::ErrorCode>(error.native);
  if (phase_ == Phase::ended && code == http2::ErrorCode::no_error) return on_closed();
  fail(fmt::format("{} ({})", describe_end(error.what), error.native));
}

std::string Http2LoadStream::describe_end(std::string_view what) const {
  switch (phase_) {
    case Phase::head:
      return fmt::format("{} before the answer", what);
    case Phase::tunnel:
      return fmt::format("{} before the echo was complete", what);
    case Phase::body:
    case Phase::ended:
      break;
  }
  return fmt::format("{} after {} bytes", what, check_.seen());
}

// An exchange is over when both directions are, and everything was read: an early answer does not
// end the request.
void Http2LoadStream::finish_if_complete() {
  if (closed_ && unread_ == 0 && exchange_ != nullptr) owner_.on_exchange_done(*this);
}

// ---- A slow consumer

void Http2LoadStream::read_slowly(std::size_t bytes) {
  unread_ += bytes;
  if (!paused_) read_portion();
}

// Reads what the portion allows. Window updates follow what was read, so that the peer is stopped
// as it would be by a client whose application is slow.
void Http2LoadStream::read_portion() {
  const std::size_t bytes = std::min(unread_, portion_);
  unread_ -= bytes;
  portion_ -= bytes;
  if (portion_ == 0) {
    paused_ = true;
    shared_.alarms.set(
        *this, net::Clock::now() + std::chrono::milliseconds(shared_.workload.read_pause_ms));
  }
  owner_.consumed(*this, bytes);
}

void Http2LoadStream::on_alarm() {
  paused_ = false;
  portion_ = shared_.workload.read_chunk_bytes;
  if (unread_ > 0) read_portion();
  finish_if_complete();
}

// ---- WebSocket

void Http2LoadStream::send_message() {
  echo_->expect();
  owner_.send(*this, echo_->message());
}

void Http2LoadStream::take_frames(std::string_view bytes) {
  const bool continued = !partial_.empty();
  if (continued) {
    partial_.append(bytes);
    bytes = partial_;
  }
  while (!bytes.empty()) {
    const EchoCheck::Status status = echo_->take(bytes);
    if (const std::string pongs = echo_->take_pongs(); !pongs.empty()) owner_.send(*this, pongs);
    if (status == EchoCheck::Status::failed) return fail(std::string(echo_->problem()));
    if (status == EchoCheck::Status::closed) return fail("the WebSocket was closed");
    if (status == EchoCheck::Status::incomplete) break;
    owner_.on_exchange_done(*this);
  }
  if (continued) {
    partial_.erase(0, partial_.size() - bytes.size());
  } else {
    partial_.assign(bytes);
  }
}

}  // namespace titanium::probe
