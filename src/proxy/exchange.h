// SPDX-License-Identifier: MIT
//
// The exchange engine: carries one request to an origin and its response back, for every pair of
// HTTP versions. Both directions are live at the same time, each with its own back-pressure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/chunk.h"
#include "base/error.h"
#include "base/intrusive_list.h"
#include "base/outcome.h"
#include "http/message.h"
#include "net/bound.h"
#include "net/event_loop.h"
#include "proxy/generated_answer.h"
#include "proxy/origin/origin_pool.h"
#include "proxy/routing.h"
#include "proxy/stream.h"

namespace titanium::proxy {

class Worker;

// What a client-leg session knows about itself. Lives as long as the session.
struct ClientInfo {
  Router* router = nullptr;
  std::string ip;          // Of the client.
  bool encrypted = false;  // The scheme is https.
};

// The events of one exchange. All methods are called on the worker's thread by the sessions of the
// two legs; the exchange answers with commands to its streams (stream.h).
//
// Objects are pooled by the worker: clear() makes one ready for the next exchange, and keeps the
// memory of its tables.
class Exchange : public ListLink<Exchange> {
 public:
  explicit Exchange(Worker& worker);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Codecs parse into these.
  [[nodiscard]] http::RequestHead& request() noexcept { return request_; }
  [[nodiscard]] http::ResponseHead& response() noexcept { return response_; }
  // The protocol that the client wants to switch to; empty: none.
  [[nodiscard]] std::string_view upgrade() const noexcept { return request_.upgrade; }

  // ---- From the client leg.

  // request() is complete. The body follows once the stream is told resume_body(); the end of the
  // request (on_request_end) is always told, for a request without body at once.
  void start(ClientStream& client, const ClientInfo& info);
  // The request could not be read, as `error` says: answers it. request() may be incomplete.
  void reject(ClientStream& client, const ClientInfo& info, const Error& error);
  // Takes everything out of `data`.
  void on_request_data(ChunkQueue& data);
  void on_request_end(const http::FieldList& trailers);
  // The body broke a rule, or did not come in time. The stream reads no more of it.
  void on_request_error(const Error& error);
  // backlog() of the client stream fell below kBacklogLow.
  void on_client_writable();
  // The client can not be reached any more.
  void on_client_gone(const Error& error);

  // ---- From the origin leg.

  void on_origin_ready(OriginStream& origin, bool reused);
  // No connection could be had.
  void on_origin_failed(const Error& error);
  // response() holds an interim response.
  void on_interim();
  // response() holds the final head.
  void on_response();
  void on_response_data(ChunkQueue& data);
  // `reusable`: the origin takes more of an unfinished request, or the next one.
  void on_response_end(const http::FieldList& trailers, bool reusable);
  void on_origin_writable();
  // The stream broke: it forgets the exchange, and is not to be used any more.
  void on_origin_error(const Error& error);

  // How long the origin may take no byte of this request; zero: for ever.
  [[nodiscard]] net::Duration idle_write_timeout() const;

  // True from start() or reject() until the exchange has nothing more to do.
  [[nodiscard]] bool is_running() const noexcept { return phase_ != Phase::idle; }
  // Ready for the next exchange. Not while running.
  void clear();

 private:
  enum class Phase : std::uint8_t { idle, connecting, sending };
  // What on_timeout() stands for when it comes.
  enum class Wait : std::uint8_t { nothing, response_head, response_body };
  // A time-out and the configuration key that it comes from.
  enum class DecidedBy : std::uint8_t { connection, idle_read, response_header, route, tunnel };
  struct Idle {
    net::Duration after;
    DecidedBy decided_by;
  };
  static constexpr std::size_t kMaxAttempts = 8;
  // Request bodies up to this size are kept until the response starts, so that the request can be
  // sent again (if Worker::keep_for_replay() allows).
  static constexpr std::size_t kReplayBytes = 64 * 1024;

  void begin(ClientStream& client, const ClientInfo& info);
  [[nodiscard]] Result<> check_request() const;
  // Tries an endpoint that was not tried yet; false if there is none. `so_far`: of the one that was
  // tried last.
  [[nodiscard]] bool connect_next(Outcome so_far);
  void connect(OriginPool::Wanted wanted);
  void try_again_or_answer(const Error& error);
  [[nodiscard]] bool may_retry(const Error& error) const;
  // What an error that came instead of a response says of the endpoint.
  [[nodiscard]] Outcome outcome_of(const Error& error) const noexcept;
  void forget_replay() noexcept;
  void start_tunnel();
  void answer(const Error& error);
  void answer_or_abort(const Error& error);
  void drop_origin();
  void leave_endpoint(Outcome outcome);
  void finish_if_done();
  void finish(const Error* error);
  [[nodiscard]] bool is_recorded() const;
  void report(const Error* error);
  void record_request();
  void arm();
  void on_timeout();
  [[nodiscard]] Idle idle_timeout() const;

  Worker& worker_;
  http::RequestHead request_;
  http::ResponseHead response_;

  std::string_view client_authority_;  // What the client asked for, before any override.

  ClientStream* client_ = nullptr;
  const ClientInfo* info_ = nullptr;
  OriginStream* origin_ = nullptr;
  OriginRequest* pending_ = nullptr;  // Waiting for a connection.

  RouteDecision route_;
  const OriginEndpoint* endpoint_ = nullptr;  // The one that was started() last.
  std::array<const OriginEndpoint*, kMaxAttempts> tried_{};
  std::size_t tried_count_ = 0;
  unsigned attempts_ = 0;
  Outcome outcome_ = Outcome::unknown;  // Of the endpoint.

  Phase phase_ = Phase::idle;
  Wait wait_ = Wait::nothing;
  bool request_ended_ = false;
  bool request_discarded_ = false;
  bool response_started_ = false;
  bool response_ended_ = false;
  bool continued_ = false;  // A 100 was passed on.
  bool client_paused_ = false;
  bool origin_paused_ = false;
  bool origin_reused_ = false;
  bool tunnel_ = false;
  bool event_stream_ = false;
  bool replayable_ = true;  // Every body byte that was taken is in replay_.
  std::uint32_t interim_count_ = 0;
  std::uint64_t request_bytes_ = 0;
  std::uint64_t response_bytes_ = 0;
  std::uint16_t status_ = 0;  // Of the final response that was started.

  ChunkQueue replay_;
  ChunkQueue scratch_;
  std::string added_;  // Texts of fields that the proxy adds to the request.
  AnswerTexts answer_texts_;
  std::optional<net::TimePoint> hard_deadline_;  // Of the whole exchange.
  net::MemberTimer<Exchange, &Exchange::on_timeout> timer_;

  // For the observer and the debug log; filled only if somebody wants to know.
  net::TimePoint started_{};
  std::string record_;
  std::array<std::uint32_t, 4> record_ends_{};  // method, scheme, host, path
};

}  // namespace titanium::proxy
