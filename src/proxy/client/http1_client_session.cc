// SPDX-License-Identifier: MIT
#include "proxy/client/http1_client_session.h"

#include <utility>

#include "base/assert.h"
#include "http1/serializer.h"
#include "proxy/http1_transfer.h"
#include "proxy/websocket_handshake.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr Error kHeadTimeout{.code = Code::timed_out,
                             .side = Side::client,
                             .what =
                                 "the request head did not arrive in time "
                                 "(timeouts.clientHeaderTimeoutSeconds)"};
constexpr Error kBodyTimeout{
    .code = Code::timed_out,
    .side = Side::client,
    .what =
        "the request body came too slowly (timeouts.connectionTimeOutSeconds, "
        "limits.minRequestBodyBytesPerSecond)"};
constexpr Error kReaderStalled{
    .code = Code::timed_out, .side = Side::client, .what = "the client stopped reading"};
constexpr Error kTunnelTruncated{
    .code = Code::closed, .side = Side::client, .what = "the client's TLS connection was cut"};
constexpr Error kBodyIncomplete{.code = Code::closed,
                                .side = Side::client,
                                .what = "the connection ended in the middle of the request body"};

// RFC 9112 §9.6: how long, and for how many bytes, to read on after our last byte, so that what the
// client still sends does not reset the connection before it has read our answer.
constexpr net::Duration kLinger{10'000};
// For clients over the limit: they must not pile up.
constexpr net::Duration kRefusalLinger{500};
constexpr std::size_t kLingerBytes = 64 * 1024 * 1024;
// A refused body is read up to here to save the connection.
constexpr std::size_t kDiscardBytes = 256 * 1024;

}  // namespace

Http1ClientSession::Http1ClientSession(Worker& worker, std::unique_ptr<net::Transport> transport,
                                       InputBuffer received, ClientInfo info,
                                       AdmissionTicket ticket)
    : ClientConnection(std::move(ticket)),
      worker_(worker),
      transport_(std::move(transport)),
      info_(std::move(info)),
      input_(std::move(received)),
      output_(worker.chunks()),
      parser_(worker.options().limits.head),
      decoder_(Side::client, worker.options().limits.body),
      linger_time_(kLinger),
      timer_(worker.loop(), *this) {}

Http1ClientSession::~Http1ClientSession() {
  transport_->set_handler(nullptr);
  if (exchange_ == nullptr) return;
  // Only at a hard stop an exchange is still running here.
  exchange_->on_client_gone({.code = Code::closed, .side = Side::self, .what = "shutting down"});
  worker_.give_back(*exchange_);
}

void Http1ClientSession::start(const Error* refuse) {
  transport_->set_handler(this);
  timer_.arm(worker_.options().timeouts.idle);
  if (!input_.empty()) want_input();
  if (refuse == nullptr) return;
  linger_time_ = kRefusalLinger;
  refuse_request(*refuse);
}

void Http1ClientSession::drain() {
  draining_ = true;
  const bool idle = reading_ == Reading::head && !in_head_ && input_.empty();
  if (idle && closing_ == Closing::no) begin_close();
}

void Http1ClientSession::schedule() { worker_.loop().defer(turn_end_); }

// Reading goes on in the next turn, not in this one: a client that always has something to say must
// not keep the loop from everybody else.
void Http1ClientSession::want_input() {
  if (!processing_) worker_.loop().defer_to_next_turn(next_turn_);
}

void Http1ClientSession::on_next_turn() {
  if (is_doomed()) return;
  read_and_process();
  on_turn_end();
}

// ---- Commands of the exchange

void Http1ClientSession::send_interim(const http::ResponseHead& head) {
  if (version_ == http::Version::http10) return;  // RFC 9110 §15.2
  if (head.status == 100) continue_sent_ = true;
  http1::write_response_head(output_, head, version_, http1::AfterResponse::keep_alive);
  schedule();
}

void Http1ClientSession::send_head(const http::ResponseHead& head) {
  response_begun_ = true;
  if (head.status == 101) answer_websocket_key();
  // After a final answer to Expect: 100-continue, one client sends the body and another does not
  // (RFC 9110 §10.1.1): what follows on the connection could be either.
  const bool body_uncertain =
      !request_done_ && exchange_->request().expects_continue && !continue_sent_;
  const bool old_client = version_ == http::Version::http10;
  keep_alive_ = request_info_.persistent && !draining_ && !linger_ && !body_uncertain &&
                (!input_ended_ || !input_.empty()) &&
                !(old_client && head.body.kind == http::BodyKind::streamed);
  auto after = http1::AfterResponse::close;
  if (head.body.kind == http::BodyKind::tunnel) {
    after = http1::AfterResponse::keep_alive;
  } else if (keep_alive_) {
    after = old_client ? http1::AfterResponse::keep_alive_http10 : http1::AfterResponse::keep_alive;
  }
  response_framing_ = http1::write_response_head(output_, head, version_, after);
  schedule();
}

// An origin that was asked over HTTP/2 has not seen the key.
void Http1ClientSession::answer_websocket_key() {
  constexpr std::string_view kAccept = "Sec-WebSocket-Accept";
  if (exchange_->response().version != http::Version::http2) return;
  http::FieldList& fields = exchange_->response().fields;
  const http::Field* key = exchange_->request().fields.find("sec-websocket-key");
  if (key == nullptr || fields.find(kAccept) != nullptr) return;
  websocket_accept_ = websocket_accept_value(key->value);
  fields.add(kAccept, websocket_accept_);
}

void Http1ClientSession::send_body(ChunkQueue& data) {
  response_moved_ = true;
  write_body(output_, response_framing_, data);
  schedule();
}

void Http1ClientSession::send_end(const http::FieldList& trailers) {
  write_body_end(output_, response_framing_, trailers);
  response_done_ = true;
  schedule();
}

void Http1ClientSession::abort(const Error& error) {
  worker_.logger().log(LogLevel::debug, "response to {} cut short: {}", info_.ip, error.what);
  // What ends with the connection looks complete after a FIN: only a reset tells.
  if (response_framing_ == http1::Framing::until_close ||
      response_framing_ == http1::Framing::tunnel) {
    transport_->abort_on_close();
    reset_ = true;
  }
  response_done_ = true;
  stop_reading();
}

std::size_t Http1ClientSession::backlog() const noexcept {
  return output_.size() + transport_->unsent_bytes();
}

void Http1ClientSession::resume_body() {
  paused_ = false;
  want_input();
}

void Http1ClientSession::discard_body() {
  discarding_ = true;
  paused_ = false;
  if (!request_done_) want_input();
}

void Http1ClientSession::release_head() {
  head_chunk_.reset();
  input_.release_if_empty();
}

void Http1ClientSession::start_tunnel() {
  TI_ASSERT(reading_ == Reading::waiting);
  decoder_.start({.framing = http1::Framing::tunnel});
  reading_ = Reading::body;
  request_done_ = paused_ = keep_alive_ = false;
  want_input();
}

// ---- Input

void Http1ClientSession::on_readable() {
  if (is_doomed()) return;
  if (!input_ended_) return read_and_process();
  // The client had ended its direction in an orderly way; what can follow is a reset.
  const auto result = transport_->read(input_.room());
  input_.release_if_empty();
  if (result.status == net::ReadResult::Status::failed) on_lost(result.error);
}

bool Http1ClientSession::wants_input() const {
  if (input_ended_) return false;
  switch (reading_) {
    case Reading::head:
      return output_.size() < kBacklogHigh;
    case Reading::body:
      return !paused_;
    case Reading::waiting:
      // Far enough to notice that the client has gone, without collecting requests.
      return input_.size() < ChunkPool::kChunkBytes / 2;
    case Reading::nothing:
      return closing_ == Closing::lingering || discarding_;
  }
  return false;
}

void Http1ClientSession::read_and_process() {
  processing_ = true;
  read_stopped_ = true;
  for (std::size_t read = 0; read < kReadBudgetBytes && !is_doomed();) {
    while (process()) {
    }
    if (is_doomed()) break;
    if (input_ended_) {
      finish_input();
      break;
    }
    if (!wants_input()) break;
    const auto result = transport_->read(input_.room());
    if (result.status == net::ReadResult::Status::bytes) {
      input_.filled(result.bytes);
      read += result.bytes;
      if (read >= kReadBudgetBytes) worker_.loop().defer_to_next_turn(next_turn_);
      continue;
    }
    read_stopped_ = false;
    if (result.status == net::ReadResult::Status::would_block) {
      input_.release_if_empty();
      arm_if_client_is_awaited();
      break;
    }
    if (result.status == net::ReadResult::Status::failed) {
      on_lost(result.error);
      break;
    }
    on_input_end(result.status == net::ReadResult::Status::truncated);
  }
  processing_ = false;
}

// Called when everything that the client sent was used and more is needed.
void Http1ClientSession::arm_if_client_is_awaited() {
  const auto& timeouts = worker_.options().timeouts;
  if (reading_ == Reading::head && !input_.empty() && !in_head_) {
    in_head_ = true;  // Once per head: a byte now and then must not prolong it.
    timer_.arm(timeouts.client_header > net::Duration::zero() ? timeouts.client_header
                                                              : timeouts.idle);
  } else if (reading_ == Reading::body && response_framing_ != http1::Framing::tunnel &&
             !timer_.is_armed()) {
    timer_.arm(timeouts.idle);
  }
}

// Judged once per time-out over what came since the last time: a byte now and then does not help.
bool Http1ClientSession::is_body_too_slow() const {
  if (was_paused_) return false;  // We were the slow ones.
  // Once the response has begun the two may talk to each other, and it is the response's turn.
  if (response_moved_) return false;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(worker_.options().timeouts.idle).count();
  const std::uint64_t rate = worker_.options().limits.request_body_bytes_per_second;
  const bool counts = !response_begun_ && !discarding_;
  return window_bytes_ == 0 ||
         (counts && window_bytes_ < rate * static_cast<std::uint64_t>(seconds));
}

bool Http1ClientSession::process() {
  if (is_doomed()) return false;
  switch (reading_) {
    case Reading::head:
      return process_head();
    case Reading::body:
      return process_body();
    case Reading::waiting:
      return false;
    case Reading::nothing:
      discarded_bytes_ += input_.size();
      input_.consume(input_.size());
      if (discarded_bytes_ > kLingerBytes) worker_.remove(*this);
      return false;
  }
  return false;
}

bool Http1ClientSession::process_head() {
  if (input_.empty() || output_.size() >= kBacklogHigh) return false;
  if (exchange_ == nullptr) exchange_ = &worker_.take_exchange();
  http::RequestHead& head = exchange_->request();
  const auto parsed = parser_.parse(input_.unread(), head, request_info_);
  if (!parsed) {
    refuse_request(parsed.error());
    return false;
  }
  if (!*parsed) return false;

  in_head_ = false;
  head_chunk_ = input_.chunk();
  input_.consume(**parsed);
  parser_.reset();
  version_ = head.version;
  decoder_.start({.framing = request_info_.framing, .bytes = head.body.bytes});
  reading_ = Reading::body;
  paused_ = true;
  was_paused_ = response_moved_ = false;
  window_bytes_ = 0;
  if (!decoder_.done()) timer_.arm(worker_.options().timeouts.idle);
  exchange_->start(*this, info_);
  if (decoder_.done()) end_request();
  return true;
}

bool Http1ClientSession::process_body() {
  if (paused_ || input_.empty()) return false;
  ChunkQueue& body = worker_.scratch();
  http::FieldList& trailers = worker_.trailers();
  trailers.clear();
  const auto done = decode_body(input_, decoder_, body, trailers);
  window_bytes_ += body.size();
  if (discarding_) return process_unwanted(body, done);
  if (!body.empty()) exchange_->on_request_data(body);
  if (!done) {
    if (discarding_) return process_unwanted(body, done);  // The data were too much already.
    stop_reading();
    linger_ = true;
    exchange_->on_request_error(done.error());
    return true;
  }
  if (*done) end_request();
  return *done;
}

// Reads a body that nobody wants to its end, to save the connection, unless that takes too much.
bool Http1ClientSession::process_unwanted(ChunkQueue& body, const Result<bool>& done) {
  discarded_bytes_ += body.size();
  body.clear();
  if (!done || discarded_bytes_ > kDiscardBytes) {
    stop_reading();
    linger_ = true;
    return true;
  }
  if (*done) end_request();
  return *done;
}

// No byte of what comes is of interest: the connection ends with the current response.
void Http1ClientSession::stop_reading() {
  reading_ = Reading::nothing;
  request_done_ = true;
  keep_alive_ = false;
  request_info_.persistent = false;
  schedule();
}

void Http1ClientSession::end_request() {
  reading_ = Reading::waiting;
  request_done_ = true;
  if (!discarding_) exchange_->on_request_end(worker_.trailers());
  worker_.trailers().clear();
  schedule();
}

void Http1ClientSession::refuse_request(const Error& error) {
  if (exchange_ == nullptr) exchange_ = &worker_.take_exchange();
  // Where the next request would begin is unknown now: answer, and close.
  stop_reading();
  linger_ = discarding_ = true;
  in_head_ = false;
  exchange_->reject(*this, info_, error);
}

void Http1ClientSession::on_input_end(bool truncated) {
  input_ended_ = true;
  // Only a tunnel takes the end of the connection for the end of its data.
  if (truncated && response_framing_ == http1::Framing::tunnel) return on_lost(kTunnelTruncated);
  if (closing_ == Closing::lingering) worker_.remove(*this);
}

// The client has ended its direction, and all of it that can be used now has been used.
void Http1ClientSession::finish_input() {
  if (reading_ == Reading::head) {
    // No complete request is left, unless one waits for room in the output.
    if (output_.size() < kBacklogHigh && closing_ == Closing::no) begin_close();
    return;
  }
  if (reading_ != Reading::body || paused_) return;  // Half-closed: its answer still goes out.
  if (!discarding_ && decoder_.end_of_input()) return end_request();  // Its half of a tunnel.
  stop_reading();
  if (!discarding_) exchange_->on_request_error(kBodyIncomplete);
}

void Http1ClientSession::on_lost(const Error& error) {
  if (exchange_ != nullptr) exchange_->on_client_gone(error);
  transport_->abort_on_close();
  worker_.remove(*this);
}

// ---- Output

void Http1ClientSession::on_writable() {
  if (!is_doomed()) on_turn_end();
}

void Http1ClientSession::on_turn_end() {
  if (is_doomed()) return;
  flush();
  if (is_doomed()) return;
  if (response_done_ && discarding_ && !keep_alive_ && !request_done_) {
    // The connection ends with this answer: no need to wait for a body that nobody wants.
    stop_reading();
    linger_ = true;
  }
  if (request_done_ && response_done_) {
    next_message();
  } else if (closing_ == Closing::flushing && output_.empty()) {
    finish_close();
  }
}

void Http1ClientSession::flush() {
  const bool was_full = output_.size() >= kBacklogHigh;
  if (!output_.empty()) {
    if (const auto written = transport_->write(output_); !written) return on_lost(written.error());
  }
  // Pipelined requests may have waited for this.
  if (was_full && output_.size() < kBacklogHigh && reading_ == Reading::head) want_input();
  const std::size_t waiting = backlog();
  if (waiting != stalled_bytes_) {
    // Progress, or more to send: either way the reader gets the full time.
    stalled_bytes_ = waiting;
    if (waiting > 0) timer_.arm(worker_.options().timeouts.idle);
  }
  if (exchange_ != nullptr && waiting <= kBacklogLow) exchange_->on_client_writable();
  const bool half_closed = response_framing_ == http1::Framing::tunnel && response_done_ && !reset_;
  if (half_closed && output_.empty() && !std::exchange(shut_down_, true)) {
    transport_->shutdown_write();
  }
}

void Http1ClientSession::next_message() {
  if (closing_ != Closing::no) {
    if (closing_ == Closing::flushing && output_.empty()) finish_close();
    return;
  }
  TI_ASSERT(!exchange_->is_running());
  worker_.give_back(*std::exchange(exchange_, nullptr));
  head_chunk_.reset();
  if (!keep_alive_ || draining_) return begin_close();

  reading_ = Reading::head;
  response_framing_ = http1::Framing::none;
  request_done_ = response_done_ = response_begun_ = continue_sent_ = false;
  paused_ = discarding_ = false;
  discarded_bytes_ = 0;
  input_.release_if_empty();
  timer_.arm(worker_.options().timeouts.idle);
  // A pipelined request may be there already, in our buffer or in the kernel's.
  if (!input_.empty() || read_stopped_ || input_ended_) want_input();
}

void Http1ClientSession::begin_close() {
  closing_ = Closing::flushing;
  if (reading_ != Reading::nothing) {
    // The client may have sent more requests, which nobody will answer.
    linger_ = linger_ || !input_.empty();
    reading_ = Reading::nothing;
  }
  discarding_ = true;
  if (output_.empty()) finish_close();
}

void Http1ClientSession::finish_close() {
  if (reset_) return worker_.remove(*this);  // Neither FIN nor close_notify.
  if (!std::exchange(shut_down_, true)) transport_->shutdown_write();
  if (transport_->unsent_bytes() > 0) return;  // on_writable() follows.
  if (!linger_ || input_ended_) return worker_.remove(*this);
  closing_ = Closing::lingering;
  discarded_bytes_ = 0;
  timer_.arm(linger_time_);
  want_input();
}

void Http1ClientSession::on_timeout() {
  if (is_doomed()) return;
  if (closing_ == Closing::lingering) return worker_.remove(*this);
  if (const std::size_t waiting = backlog(); waiting > 0) {
    if (waiting == stalled_bytes_) {
      worker_.logger().log(LogLevel::debug, "client {} stopped reading", info_.ip);
      return on_lost(kReaderStalled);
    }
    stalled_bytes_ = waiting;
    return timer_.arm(worker_.options().timeouts.idle);
  }
  if (reading_ == Reading::head) {
    if (in_head_) return refuse_request(kHeadTimeout);
    return begin_close();
  }
  if (reading_ == Reading::body && !paused_ && response_framing_ != http1::Framing::tunnel) {
    if (!is_body_too_slow()) {
      window_bytes_ = 0;
      was_paused_ = response_moved_ = false;
      return timer_.arm(worker_.options().timeouts.idle);
    }
    if (discarding_) return worker_.remove(*this);
    stop_reading();
    linger_ = true;
    exchange_->on_request_error(kBodyTimeout);
  }
}

}  // namespace titanium::proxy
