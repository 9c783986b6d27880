// SPDX-License-Identifier: MIT
#include "cli/demo/connection.h"

#include <algorithm>
#include <utility>

namespace titanium::cli::demo {
namespace {

// Longer than the 60 s for which proxies keep idle connections by default, so that it is they who
// close, and no request runs into a connection that we have just closed.
constexpr net::Duration kIdle{75'000};
constexpr net::Duration kHead{30'000};     // First byte of a head to its end.
constexpr net::Duration kStalled{60'000};  // Within an exchange without any progress.
constexpr net::Duration kTunnel{3'600'000};
constexpr net::Duration kLinger{2'000};  // From our end of the connection to the peer's.

constexpr std::size_t kHighWater = 256 * 1024;  // Output that may wait for a slow reader.
constexpr int kReadsPerTurn = 16;
constexpr int kWritesPerTurn = 8;

}  // namespace

Connection::Connection(const Context& context, std::uint64_t id,
                       std::unique_ptr<net::Transport> transport)
    : loop_(context.loop),
      date_(context.date),
      owner_(context.owner),
      id_(id),
      transport_(std::move(transport)),
      input_(context.pool),
      out_(context.pool),
      piece_(context.pool),
      idle_timer_(loop_, *this),
      answer_timer_(loop_, *this) {
  transport_->set_handler(this);
  idle_timer_.arm(kIdle);
}

// --- Input ---

void Connection::pump() {
  for (int reads = 0; reads < kReadsPerTurn; ++reads) {
    process_input();
    if (phase_ == Phase::gone || !wants_input()) return;
    const net::ReadResult result = transport_->read(input_.room());
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        input_.filled(result.bytes);
        note_progress();
        break;
      case net::ReadResult::Status::would_block:
        input_.release_if_empty();
        return;
      case net::ReadResult::Status::end:
        return peer_ended();
      case net::ReadResult::Status::truncated:
      case net::ReadResult::Status::failed:
        return die();
    }
  }
  owner_.resume_soon(*this);
}

void Connection::process_input() {
  for (;;) {
    switch (phase_) {
      case Phase::head:
        if (!step_head()) return;
        break;
      case Phase::body:
        if (!end_exchange_if_done() && !step_body()) return;
        break;
      case Phase::closing:
        input_.consume(input_.size());
        return;
      case Phase::gone:
        return;
    }
  }
}

// Peers that send but do not read are stopped here too: there are no more answers until the
// former ones have left.
bool Connection::wants_input() const {
  if (phase_ == Phase::closing) return shutdown_sent_;
  if (phase_ == Phase::head) return room() > 0;
  const bool blocked = answer_ != nullptr && answer_->sends_what_it_reads() && room() == 0;
  return !request_done_ && !blocked;
}

bool Connection::step_head() {
  if (input_.empty() || room() == 0) return false;
  const auto parsed = parser_.parse(input_.unread(), request_, info_);
  if (!parsed) {
    refuse(parsed.error());
    return false;
  }
  if (!*parsed) return false;
  begin_exchange(**parsed);
  return true;
}

void Connection::begin_exchange(std::size_t head_bytes) {
  phase_ = Phase::body;
  request_done_ = request_.body.is_empty();
  if (!request_done_) {
    decoder_.start({.framing = info_.framing, .bytes = request_.body.bytes});
  }
  is_head_request_ = request_.method == http::Method::head;
  close_after_ = !info_.persistent;
  if (request_.expects_continue && !request_done_ && request_.version == http::Version::http11) {
    out_.append("HTTP/1.1 100 Continue\r\n\r\n");
  }
  const std::string peer_ip = transport_->peer_address().ip();
  const Request request{
      .head = request_, .raw_head = input_.unread().substr(0, head_bytes), .peer_ip = peer_ip};
  begin_answer(make_answer(request));
  input_.consume(head_bytes);
  parser_.reset();
  head_began_ = false;
  note_progress();
}

void Connection::begin_answer(std::unique_ptr<Answer> answer) {
  response_done_ = false;
  is_tunnel_ = false;
  answer_ = std::move(answer);
  answer_->start(*this);
  if (request_done_ && !response_done_ && !is_tunnel_) answer_->on_request_end(*this);
  loop_.defer(*this);
}

// The bytes are not HTTP: say so, and close, as nobody knows where the next request begins.
void Connection::refuse(const Error& error) {
  phase_ = Phase::body;
  request_done_ = true;
  is_head_request_ = false;
  close_after_ = true;
  request_.clear();
  request_.version = http::Version::http11;
  begin_answer(make_error_answer(error.status != 0 ? error.status : 400, error.what));
  end_exchange_if_done();
}

bool Connection::step_body() {
  if (request_done_ || input_.empty()) return false;
  if (answer_ != nullptr && answer_->sends_what_it_reads() && room() == 0) return false;
  const std::string_view unread = input_.unread();
  request_trailers_.clear();
  const auto step = decoder_.next(unread, request_trailers_);
  if (!step) {
    // Within a response that has begun there is no way to say what was wrong.
    die();
    return false;
  }
  const bool progress = step->overhead > 0 || step->data > 0 || step->done;
  if (answer_ != nullptr && step->data > 0) {
    answer_->on_request_body(*this, unread.substr(step->overhead, step->data));
  }
  input_.consume(step->overhead + step->data);
  if (step->done) {
    request_done_ = true;
    if (answer_ != nullptr && !response_done_) answer_->on_request_end(*this);
  }
  if (progress) loop_.defer(*this);
  return progress;
}

bool Connection::end_exchange_if_done() {
  if (response_done_) answer_.reset();
  if (response_done_ && close_after_) {
    begin_closing();
    return true;
  }
  if (!response_done_ || !request_done_) return false;
  phase_ = Phase::head;
  answer_timer_.disarm();
  note_progress();
  return true;
}

void Connection::peer_ended() {
  switch (phase_) {
    case Phase::gone:
      return;
    case Phase::head:  // Between requests, or a request that will never be complete.
      if (out_.empty()) return die();
      return begin_closing();
    case Phase::closing:
      if (out_.empty()) return die();
      return;
    case Phase::body:
      break;
  }
  if (!decoder_.end_of_input()) return die();
  request_done_ = true;
  if (answer_ != nullptr && !response_done_) answer_->on_request_end(*this);
  loop_.defer(*this);
  end_exchange_if_done();
}

// --- Output ---

void Connection::send_head(std::uint16_t status, http::BodySize body,
                           std::span<const FieldLine> fields) {
  response_.clear();
  response_.status = status;
  response_.reason = http::reason_phrase(status);
  response_.body = body;
  if (!http::may_have_body(request_.method, status)) {
    if (is_head_request_ && body.kind == http::BodyKind::sized) {
      response_.declared_length = body.bytes;
    }
    response_.body = {};
  }
  response_.fields.add("Date", date_.at(loop_.wall_seconds()));
  response_.fields.add("Server", "titanium-demo");
  for (const FieldLine& field : fields) response_.fields.add(field.name, field.value);

  const bool is_http10 = request_.version == http::Version::http10;
  if (is_http10 && response_.body.kind == http::BodyKind::streamed) close_after_ = true;
  const auto after = close_after_ ? http1::AfterResponse::close
                     : is_http10  ? http1::AfterResponse::keep_alive_http10
                                  : http1::AfterResponse::keep_alive;
  framing_ = http1::write_response_head(out_, response_, request_.version, after);
  // Nothing can follow, whatever the answer still has to say.
  if (framing_ == http1::Framing::none) response_done_ = true;
}

void Connection::send_upgrade(std::string_view protocol, std::span<const FieldLine> fields) {
  response_.clear();
  response_.status = 101;
  response_.reason = http::reason_phrase(101);
  response_.body = {.kind = http::BodyKind::tunnel};
  response_.upgrade = protocol;
  response_.fields.add("Date", date_.at(loop_.wall_seconds()));
  for (const FieldLine& field : fields) response_.fields.add(field.name, field.value);
  framing_ = http1::write_response_head(out_, response_, request_.version,
                                        http1::AfterResponse::keep_alive);
  framing_ = http1::Framing::tunnel;
  is_tunnel_ = true;
  close_after_ = true;
  request_done_ = false;
  decoder_.start({.framing = http1::Framing::tunnel});
}

void Connection::send_body(std::string_view text) {
  if (text.empty()) return;
  switch (framing_) {
    case http1::Framing::none:
      return;  // The answer to a HEAD.
    case http1::Framing::chunked:
      piece_.append(text);
      return http1::write_chunk(out_, piece_);
    case http1::Framing::fixed:
    case http1::Framing::until_close:
    case http1::Framing::tunnel:
      return out_.append(text);
  }
}

void Connection::send_end(std::span<const FieldLine> trailers) {
  if (framing_ == http1::Framing::chunked) {
    http::FieldList list;
    for (const FieldLine& field : trailers) list.add(field.name, field.value);
    http1::write_last_chunk(out_, list);
  }
  response_done_ = true;
}

std::size_t Connection::room() const {
  return out_.size() >= kHighWater ? 0 : kHighWater - out_.size();
}

void Connection::on_writable() {
  note_progress();
  flush();
}

void Connection::resume() {
  if (phase_ == Phase::gone) return;
  pump();
  flush();
}

// False: the connection is gone.
bool Connection::write_some() {
  if (out_.empty()) return true;
  const std::size_t before = out_.size();
  if (!transport_->write(out_)) {
    die();
    return false;
  }
  if (out_.size() < before) note_progress();
  return true;
}

void Connection::flush() {
  if (phase_ == Phase::gone) return;
  const bool was_full = room() == 0;
  for (int writes = 0; writes < kWritesPerTurn; ++writes) {
    if (!write_some()) return;
    if (answer_ == nullptr || response_done_ || room() == 0) break;
    const std::size_t before = out_.size();
    answer_->on_room(*this);
    if (out_.size() == before && !response_done_) break;  // It waits for something else.
    if (writes + 1 == kWritesPerTurn) owner_.resume_soon(*this);
  }
  if (phase_ == Phase::closing && out_.empty() && !shutdown_sent_) {
    shutdown_sent_ = true;
    transport_->shutdown_write();
    idle_timer_.arm(kLinger);
    owner_.resume_soon(*this);
    return;
  }
  if (!write_some()) return;
  // Input may have been waiting for room, or for the end of this response.
  if ((was_full && room() > 0) || (phase_ == Phase::body && response_done_)) {
    owner_.resume_soon(*this);
  }
}

// --- End ---

// Closing at once with unread input would reset the connection, and the peer could lose the
// response that is still on its way (RFC 9112 §9.6).
void Connection::begin_closing() {
  if (phase_ == Phase::closing || phase_ == Phase::gone) return;
  phase_ = Phase::closing;
  answer_.reset();
  answer_timer_.disarm();
  idle_timer_.arm(kStalled);
  loop_.defer(*this);
}

void Connection::die() {
  if (phase_ == Phase::gone) return;
  phase_ = Phase::gone;
  answer_timer_.disarm();
  idle_timer_.disarm();
  transport_->set_handler(nullptr);
  owner_.retire(*this);
}

void Connection::note_progress() {
  switch (phase_) {
    case Phase::head:
      if (input_.empty()) {
        idle_timer_.arm(kIdle);
      } else if (!head_began_) {
        head_began_ = true;  // From here on more bytes do not move the deadline.
        idle_timer_.arm(kHead);
      }
      return;
    case Phase::body:
      idle_timer_.arm(is_tunnel_ ? kTunnel : kStalled);
      return;
    case Phase::closing:
      if (!shutdown_sent_) idle_timer_.arm(kStalled);
      return;
    case Phase::gone:
      return;
  }
}

void Connection::on_timer(net::Timer& timer) {
  if (phase_ == Phase::gone) return;
  if (&timer == &answer_timer_) {
    if (answer_ == nullptr) return;
    answer_->on_timer(*this);
    note_progress();
    loop_.defer(*this);
    return;
  }
  const bool waits_for_its_clock =
      phase_ == Phase::body && answer_timer_.is_armed() && out_.empty();
  if (waits_for_its_clock) return note_progress();
  if (phase_ == Phase::head && parser_.has_started() && out_.empty()) {
    return refuse({.code = Code::timed_out,
                   .side = Side::client,
                   .status = 408,
                   .what = "the request head took too long"});
  }
  die();
}

}  // namespace titanium::cli::demo
