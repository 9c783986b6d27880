// SPDX-License-Identifier: MIT
#include "proxy/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "base/assert.h"
#include "base/try.h"
#include "proxy/origin/origin_request.h"
#include "proxy/traffic_observer.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr Error kNoRoute{.code = Code::protocol,
                         .side = Side::client,
                         .status = 404,
                         .what = "no route matches this host and path"};
constexpr Error kNoEndpoint{.code = Code::unavailable,
                            .side = Side::self,
                            .status = 503,
                            .what = "no origin of this cluster is available"};
constexpr Error kBodyTooLarge{.code = Code::limit,
                              .side = Side::client,
                              .status = 413,
                              .what = "the request body is over limits.maxRequestBodyBytes"};
constexpr Error kTooManyInterim{.code = Code::limit,
                                .side = Side::origin,
                                .what = "more interim responses than limits.maxInterimResponses"};
constexpr Error kStraySwitch{.code = Code::protocol,
                             .side = Side::origin,
                             .what = "101 (Switching Protocols) that nobody asked for"};
constexpr Error kRequestTimeout{.code = Code::timed_out,
                                .side = Side::origin,
                                .what = "timeouts.requestTimeoutSeconds is over"};
// By DecidedBy: the key that the operator has to turn is named.
constexpr std::string_view kHeadTimeouts[] = {
    "the origin sent no response head in time (timeouts.connectionTimeOutSeconds)",
    "the origin sent no response head in time (timeouts.idleReadTimeoutSeconds)",
    "the origin sent no response head in time (timeouts.responseHeaderTimeoutSeconds)",
    "the origin sent no response head in time (limits.idleTimeoutSeconds of the route)",
    "nothing came through the tunnel in time (timeouts.tunnelIdleTimeoutSeconds)",
};
constexpr std::string_view kBodyTimeouts[] = {
    "the origin stopped sending its response (timeouts.connectionTimeOutSeconds)",
    "the origin stopped sending its response (timeouts.idleReadTimeoutSeconds)",
    "the origin stopped sending its response (timeouts.responseHeaderTimeoutSeconds)",
    "the origin stopped sending its response (limits.idleTimeoutSeconds of the route)",
    "nothing came through the tunnel in time (timeouts.tunnelIdleTimeoutSeconds)",
};

const http::FieldList kNoTrailers;

}  // namespace

Exchange::Exchange(Worker& worker)
    : worker_(worker),
      replay_(worker.chunks()),
      scratch_(worker.chunks()),
      timer_(worker.loop(), *this) {}

Exchange::~Exchange() {
  // At a hard stop, exchanges die with work in progress; the streams die with them.
  if (pending_ != nullptr) pending_->cancel();
}

void Exchange::clear() {
  TI_ASSERT(!is_running());
  request_.clear();
  response_.clear();
  client_ = nullptr;
  info_ = nullptr;
  route_ = {};
  endpoint_ = nullptr;
  tried_count_ = 0;
  attempts_ = 0;
  wait_ = Wait::nothing;
  request_ended_ = request_discarded_ = response_started_ = response_ended_ = false;
  continued_ = false;
  outcome_ = Outcome::unknown;
  client_paused_ = origin_paused_ = origin_reused_ = tunnel_ = event_stream_ = false;
  replayable_ = true;
  interim_count_ = 0;
  request_bytes_ = response_bytes_ = 0;
  status_ = 0;
  hard_deadline_.reset();
}

void Exchange::begin(ClientStream& client, const ClientInfo& info) {
  client_ = &client;
  info_ = &info;
  phase_ = Phase::connecting;
  if (is_recorded()) record_request();
}

void Exchange::start(ClientStream& client, const ClientInfo& info) {
  begin(client, info);
  client_paused_ = true;
  if (const auto good = check_request(); !good) return answer(good.error());
  route_ = info.router->route(request_);
  if (route_.group == nullptr) return answer(kNoRoute);

  worker_.forwarding().prepare_request(request_, info.ip, info.encrypted, added_);
  const auto& timeouts = worker_.options().timeouts;
  net::Duration total = timeouts.request;
  if (route_.settings != nullptr) total = route_.settings->request_timeout.value_or(total);
  if (total > net::Duration::zero()) {
    hard_deadline_ = worker_.loop().now() + total;
    arm();
  }
  client_authority_ = request_.authority;
  if (!connect_next(Outcome::unknown)) answer(kNoEndpoint);
}

void Exchange::reject(ClientStream& client, const ClientInfo& info, const Error& error) {
  begin(client, info);
  answer(error);
}

Result<> Exchange::check_request() const {
  if (request_.method == http::Method::connect) {
    return std::unexpected(
        Error{.code = Code::unsupported,
              .side = Side::client,
              .what = "CONNECT is for forward proxies; this is a reverse proxy"});
  }
  const auto& limit = worker_.options().limits.request_body_bytes;
  if (limit && request_.body.kind == http::BodyKind::sized && request_.body.bytes > *limit) {
    return std::unexpected(kBodyTooLarge);
  }
  TI_TRY(ForwardingRules::check_max_forwards(request_));
  return worker_.forwarding().check_loop(request_);
}

bool Exchange::connect_next(Outcome so_far) {
  if (tried_count_ == kMaxAttempts) return false;
  const auto tried = std::span(tried_).first(tried_count_);
  const OriginEndpoint* endpoint = route_.group->pick(tried, worker_.loop().now());
  if (endpoint == nullptr) return false;
  leave_endpoint(so_far);
  tried_[tried_count_++] = endpoint_ = endpoint;
  route_.group->started(*endpoint);
  connect(OriginPool::Wanted::any);
  return true;
}

void Exchange::connect(OriginPool::Wanted wanted) {
  ++attempts_;
  phase_ = Phase::connecting;
  wait_ = Wait::nothing;
  if (!request_ended_ && !client_paused_) {
    // In the middle of a request that is sent again: what comes now has nowhere to go yet.
    client_paused_ = true;
    client_->pause_body();
  }
  pending_ = worker_.pool(*endpoint_).acquire(*this, wanted);
}

void Exchange::on_origin_ready(OriginStream& origin, bool reused) {
  pending_ = nullptr;
  origin_ = &origin;
  origin_reused_ = reused;
  phase_ = Phase::sending;
  wait_ = Wait::response_head;
  arm();

  request_.authority = endpoint_->authority_override.empty()
                           ? client_authority_
                           : std::string_view(endpoint_->authority_override);
  origin.send_head(request_);
  if (!replay_.empty()) {
    scratch_.append_shared(replay_);
    origin.send_body(scratch_);
  }
  if (request_ended_) return origin.send_end(kNoTrailers);
  if (client_paused_) {
    client_paused_ = false;
    client_->resume_body();
  }
}

void Exchange::on_origin_failed(const Error& error) {
  pending_ = nullptr;
  if (!may_retry(error) || !connect_next(Outcome::failed)) answer(error);
}

void Exchange::try_again_or_answer(const Error& error) {
  if (!may_retry(error)) return answer(error);
  // An idle connection may be closed at any time: that says nothing of the next one.
  const bool was_stale = error.code == Code::closed && origin_reused_;
  if (was_stale) return connect(OriginPool::Wanted::fresh);
  if (connect_next(outcome_of(error))) return;
  if (error.retry == Retry::always) return connect(OriginPool::Wanted::fresh);
  answer(error);
}

// Who refuses a request (GOAWAY, REFUSED_STREAM) speaks of a connection or of its load, not of its
// health. The same goes for a time-out while the request was still arriving.
Outcome Exchange::outcome_of(const Error& error) const noexcept {
  if (error.side != Side::origin || error.code == Code::refused) return Outcome::unknown;
  // While the client is paused it is the origin that takes no more.
  const bool was_asked = request_ended_ || client_paused_;
  return error.code == Code::timed_out && !was_asked ? Outcome::unknown : Outcome::failed;
}

bool Exchange::may_retry(const Error& error) const {
  if (attempts_ > worker_.options().pooling.retry_attempts) return false;
  if (!replayable_ || response_started_ || interim_count_ > 0) return false;
  return error.retry == Retry::always ||
         (error.retry == Retry::if_idempotent && http::is_idempotent(request_.method));
}

void Exchange::on_request_data(ChunkQueue& data) {
  request_bytes_ += data.size();
  const auto& limit = worker_.options().limits.request_body_bytes;
  if (limit && request_bytes_ > *limit && !tunnel_) {
    data.clear();
    return on_request_error(kBodyTooLarge);
  }
  TI_ASSERT(origin_ != nullptr && "the client was not paused");
  if (replayable_ && !tunnel_) {
    // What may be sent again: an idempotent request on a connection that may be stale, and any
    // request that the origin can refuse unprocessed.
    const bool may_come_back =
        origin_->may_be_refused() || (origin_reused_ && http::is_idempotent(request_.method));
    replayable_ = may_come_back && !response_started_ && request_bytes_ <= kReplayBytes &&
                  worker_.keep_for_replay(data.size());
    if (replayable_) {
      replay_.append_shared(data);
    } else {
      forget_replay();
    }
  }
  origin_->send_body(data);
  if (!client_paused_ && origin_->backlog() > kBacklogHigh) {
    client_paused_ = true;
    client_->pause_body();
  }
  arm();
}

void Exchange::forget_replay() noexcept {
  worker_.forget_replay(replay_.size());
  replay_.clear();
}

void Exchange::on_request_end(const http::FieldList& trailers) {
  request_ended_ = true;
  if (!trailers.empty()) replayable_ = false;
  if (origin_ != nullptr) origin_->send_end(trailers);
  if (wait_ == Wait::response_head) arm();  // From now on the origin is the slow one.
  finish_if_done();
}

void Exchange::on_request_error(const Error& error) {
  request_ended_ = request_discarded_ = true;
  client_->discard_body();
  if (!response_ended_) return answer_or_abort(error);
  drop_origin();
  finish(&error);
}

void Exchange::on_origin_writable() {
  if (!client_paused_ || origin_ == nullptr || origin_->backlog() > kBacklogLow) return;
  client_paused_ = false;
  client_->resume_body();
}

void Exchange::on_client_writable() {
  if (!origin_paused_ || origin_ == nullptr) return;
  origin_paused_ = false;
  arm();
  origin_->resume_body();
}

void Exchange::on_client_gone(const Error& error) {
  if (!is_running()) return;
  drop_origin();
  finish(&error);
}

void Exchange::on_interim() {
  if (response_.status == 100) continued_ = true;
  if (++interim_count_ > worker_.options().limits.interim_responses) {
    drop_origin();
    return answer(kTooManyInterim);
  }
  arm();
  worker_.forwarding().prepare_response(response_, {});
  client_->send_interim(response_);
}

void Exchange::on_response() {
  const bool switches = response_.status == 101;
  // RFC 9110 §7.8: the request has to be complete before the protocol can change.
  if (switches && (request_.upgrade.empty() || !request_ended_)) {
    drop_origin();
    return answer(kStraySwitch);
  }
  response_started_ = true;
  outcome_ = Outcome::answered;
  status_ = response_.status;
  forget_replay();
  wait_ = Wait::response_body;
  if (response_.body.kind == http::BodyKind::streamed) {
    const http::Field* type = response_.fields.find("content-type");
    event_stream_ =
        type != nullptr && http::equals_ignore_case(type->value.substr(0, 17), "text/event-stream");
  }
  worker_.forwarding().prepare_response(response_, worker_.date());
  client_->send_head(response_);
  if (switches) start_tunnel();
  client_->release_head();
  arm();
}

void Exchange::start_tunnel() {
  tunnel_ = true;
  request_ended_ = false;
  client_paused_ = false;
  origin_->start_tunnel();
  client_->start_tunnel();
}

void Exchange::on_response_data(ChunkQueue& data) {
  response_bytes_ += data.size();
  client_->send_body(data);
  if (!origin_paused_ && client_->backlog() > kBacklogHigh) {
    origin_paused_ = true;
    origin_->pause_body();
  }
  arm();
}

void Exchange::on_response_end(const http::FieldList& trailers, bool reusable) {
  response_ended_ = true;
  client_->send_end(trailers);
  // A client that waits for 100 (Continue) and got the final answer will not send its body.
  const bool body_withheld = request_.expects_continue && !continued_ && request_bytes_ == 0;
  if (!request_ended_ && !tunnel_ && (!reusable || body_withheld)) {
    // The origin has answered early and reads no more, or the client will send no more.
    drop_origin();
    request_ended_ = request_discarded_ = true;
    client_->discard_body();
  }
  finish_if_done();
}

void Exchange::on_origin_error(const Error& error) {
  origin_ = nullptr;
  if (!response_started_) return try_again_or_answer(error);
  if (!response_ended_) {
    client_->abort(error);
    return finish(&error);
  }
  request_ended_ = request_discarded_ = true;
  client_->discard_body();
  finish(tunnel_ ? nullptr : &error);
}

void Exchange::answer_or_abort(const Error& error) {
  drop_origin();
  if (!response_started_) return answer(error);
  client_->abort(error);
  finish(&error);
}

void Exchange::answer(const Error& error) {
  drop_origin();
  if (!response_started_) outcome_ = outcome_of(error);
  std::string where;
  if (endpoint_ != nullptr && error.side == Side::origin) {
    where = endpoint_->host + ":" + std::to_string(endpoint_->port);
  }
  make_answer(error, worker_.forwarding().name(), where, response_, answer_texts_);
  if (status_of(error) == 503) response_.fields.add("Retry-After", "1");
  response_.fields.add("Date", worker_.date());
  response_started_ = response_ended_ = true;
  status_ = response_.status;

  const bool rejected_early = error.side == Side::client && request_.method_text.empty();
  const bool bodyless = !rejected_early && request_.method == http::Method::head;
  if (bodyless) {
    response_.declared_length = response_.body.bytes;
    response_.body = {};
  }
  // Before the head, so that the stream can say in it that the connection will be closed.
  if (!request_ended_) {
    request_ended_ = request_discarded_ = true;
    client_->discard_body();
  }
  client_->send_head(response_);
  if (!bodyless) {
    scratch_.append(answer_texts_.body);
    response_bytes_ = scratch_.size();
    client_->send_body(scratch_);
  }
  client_->send_end(kNoTrailers);
  finish(&error);
}

void Exchange::drop_origin() {
  if (pending_ != nullptr) std::exchange(pending_, nullptr)->cancel();
  if (origin_ != nullptr) std::exchange(origin_, nullptr)->abort();
}

void Exchange::leave_endpoint(Outcome outcome) {
  if (endpoint_ == nullptr || route_.group == nullptr) return;
  route_.group->finished(*endpoint_, outcome, worker_.loop().now());
  endpoint_ = nullptr;
}

void Exchange::finish_if_done() {
  if (!is_running() || !request_ended_ || !response_ended_) return;
  if (origin_ != nullptr) std::exchange(origin_, nullptr)->release();
  finish(nullptr);
}

void Exchange::finish(const Error* error) {
  timer_.disarm();
  wait_ = Wait::nothing;
  forget_replay();
  if (is_recorded()) report(error);
  leave_endpoint(outcome_);
  phase_ = Phase::idle;
}

Exchange::Idle Exchange::idle_timeout() const {
  const auto& timeouts = worker_.options().timeouts;
  if (tunnel_ || event_stream_) return {timeouts.tunnel_idle, DecidedBy::tunnel};
  if (wait_ == Wait::response_head && timeouts.response_header > net::Duration::zero()) {
    return {timeouts.response_header, DecidedBy::response_header};
  }
  if (route_.settings != nullptr && route_.settings->idle_timeout) {
    return {*route_.settings->idle_timeout, DecidedBy::route};
  }
  if (timeouts.idle_read > net::Duration::zero()) return {timeouts.idle_read, DecidedBy::idle_read};
  return {timeouts.idle, DecidedBy::connection};
}

net::Duration Exchange::idle_write_timeout() const {
  const auto& timeouts = worker_.options().timeouts;
  if (tunnel_) return timeouts.tunnel_idle;
  if (route_.settings != nullptr && route_.settings->idle_timeout) {
    return *route_.settings->idle_timeout;
  }
  return timeouts.idle_write > net::Duration::zero() ? timeouts.idle_write : timeouts.idle;
}

void Exchange::arm() {
  net::Duration after = wait_ == Wait::nothing ? net::Duration::zero() : idle_timeout().after;
  if (hard_deadline_ && !tunnel_) {
    const auto left =
        std::chrono::duration_cast<net::Duration>(*hard_deadline_ - worker_.loop().now());
    const auto at_least = std::max(left, net::Duration(1));
    after = after == net::Duration::zero() ? at_least : std::min(after, at_least);
  }
  timer_.arm(after);
}

void Exchange::on_timeout() {
  if (hard_deadline_ && !tunnel_ && worker_.loop().now() >= *hard_deadline_) {
    return answer_or_abort(kRequestTimeout);
  }
  // The client is the slow one, or the origin does not take the request: their sessions have
  // time-outs of their own for that.
  const bool request_counts = wait_ == Wait::response_head || response_ended_;
  const bool client_is_slow = origin_paused_ || (!request_ended_ && !tunnel_ && request_counts);
  if (wait_ == Wait::nothing || client_is_slow) return arm();
  const auto decided_by = std::to_underlying(idle_timeout().decided_by);
  answer_or_abort({.code = Code::timed_out,
                   .side = Side::origin,
                   .what = wait_ == Wait::response_head ? kHeadTimeouts[decided_by]
                                                        : kBodyTimeouts[decided_by]});
}

bool Exchange::is_recorded() const {
  return worker_.options().observer != nullptr || worker_.logger().wants(LogLevel::debug);
}

void Exchange::record_request() {
  started_ = net::Clock::now();
  record_.clear();
  const std::string_view parts[] = {request_.method_text, info_->encrypted ? "https" : "http",
                                    request_.authority, request_.path};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    record_ += parts[i];
    record_ends_[i] = static_cast<std::uint32_t>(record_.size());
  }
}

void Exchange::report(const Error* error) {
  const auto part = [this](std::size_t i) {
    const std::uint32_t begin = i == 0 ? 0 : record_ends_[i - 1];
    return std::string_view(record_).substr(begin, record_ends_[i] - begin);
  };
  const auto duration =
      std::chrono::duration_cast<std::chrono::microseconds>(net::Clock::now() - started_);
  char origin[320];
  std::string_view where;
  if (endpoint_ != nullptr) {
    const auto end =
        fmt::format_to_n(origin, sizeof origin, "{}:{}", endpoint_->host, endpoint_->port).out;
    where = {origin, static_cast<std::size_t>(end - origin)};
  }
  worker_.logger().log(LogLevel::debug, "{} {} {}://{}{} {} {} bytes {} us {}", info_->ip, part(0),
                       part(1), part(2), part(3), status_, response_bytes_, duration.count(),
                       error == nullptr ? std::string_view("ok") : error->what);
  if (worker_.options().observer == nullptr) return;
  worker_.options().observer->on_exchange_finished(
      {.started = std::chrono::system_clock::now() - duration,
       .duration = duration,
       .client_ip = info_->ip,
       .method = part(0),
       .scheme = part(1),
       .host = part(2),
       .path = part(3),
       .status = status_,
       .request_body_bytes = request_bytes_,
       .response_body_bytes = response_bytes_,
       .origin = where,
       .origin_reused = origin_reused_,
       .attempts = attempts_,
       .error = error});
}

}  // namespace titanium::proxy
