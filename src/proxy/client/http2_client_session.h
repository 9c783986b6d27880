// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/intrusive_list.h"
#include "http2/connection.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/client/client_connection.h"
#include "proxy/exchange.h"
#include "proxy/http2_inbound.h"
#include "proxy/http2_link.h"
#include "proxy/stream.h"

namespace titanium::proxy {

class Http2ClientSession;

// One exchange of a client.
class Http2ClientStream final : public http2::Stream,
                                public ClientStream,
                                public ListLink<Http2ClientStream> {
 public:
  Http2ClientStream(Http2ClientSession& session, ChunkPool& pool);

  // ClientStream
  void send_interim(const http::ResponseHead& head) override;
  void send_head(const http::ResponseHead& head) override;
  void send_body(ChunkQueue& data) override;
  void send_end(const http::FieldList& trailers) override;
  void abort(const Error& error) override;
  [[nodiscard]] std::size_t backlog() const noexcept override;
  void pause_body() override { paused_ = was_paused_ = true; }
  void resume_body() override;
  void discard_body() override;
  void release_head() override;
  void start_tunnel() override;

 private:
  friend class Http2ClientSession;

  Http2ClientSession& session_;
  Exchange* exchange_ = nullptr;  // Borrowed from the worker until the exchange is over.
  Http2Inbound inbound_;
  bool opened_ = false;        // The codec knows the stream.
  bool request_done_ = false;  // The exchange has heard of the end.
  bool response_begun_ = false;
  bool response_done_ = false;
  bool upgrades_ = false;  // An extended CONNECT: what comes before its answer is kept.
  bool tunnel_ = false;
  bool paused_ = true;
  bool was_paused_ = false;  // At some time since the last tick.
  bool resumed_ = false;     // What was kept is to be delivered in the next turn.
  bool discarding_ = false;
  bool seen_by_tick_ = false;       // It was there at the last tick.
  bool had_queue_ = false;          // At the last tick something waited to be sent.
  std::string websocket_key_;       // Of the request in HTTP/1 terms.
  bool bad_switch_ = false;         // The origin's 101 does not fit the key.
  std::uint64_t window_bytes_ = 0;  // Of the request body, since the last tick.
  std::uint64_t discarded_bytes_ = 0;
  std::uint64_t stalled_at_ = 0;  // produced_bytes() at the last tick.
};

// The client leg of HTTP/2: one connection, many exchanges at a time.
class Http2ClientSession final : public ClientConnection,
                                 private http2::ConnectionHandler,
                                 private Http2Link::Owner {
 public:
  // `received`: what was read to find out that this is HTTP/2.
  Http2ClientSession(Worker& worker, std::unique_ptr<net::Transport> transport,
                     InputBuffer received, ClientInfo info, AdmissionTicket ticket);
  ~Http2ClientSession() override;

  void start();
  void drain() override;

 private:
  friend class Http2ClientStream;
  static constexpr std::size_t kKeptStreams = 128;

  // http2::ConnectionHandler
  http2::Stream* on_new_stream() override;
  http::RequestHead& request_of(http2::Stream& stream) override;
  http::ResponseHead& response_of(http2::Stream& stream) override;
  void on_request(http2::Stream& stream, bool ended) override;
  void on_refused_request(http2::Stream& stream, const Error& error) override;
  void on_response(http2::Stream& /*stream*/, bool /*ended*/) override {}
  void on_data(http2::Stream& stream, ChunkQueue& data) override;
  void on_end(http2::Stream& stream, const http::FieldList& trailers) override;
  void on_stream_writable(http2::Stream& stream) override;
  void on_closed(http2::Stream& stream) override;
  void on_reset(http2::Stream& stream, const Error& error) override;
  void on_goaway() override;

  // Http2Link::Owner
  void on_link_failed(const Error& error) override;
  void on_link_closed() override;
  void on_link_progress() override;

  void on_next_turn();
  void on_tick();
  void start_upgrade(Http2ClientStream& stream);
  void look_at(Http2ClientStream& stream);
  void deliver(Http2ClientStream& stream);
  void deliver_data(Http2ClientStream& stream, ChunkQueue& data);
  void end_request(Http2ClientStream& stream, const http::FieldList& trailers);
  void settle(Http2ClientStream& stream);
  void settle_all();
  void settle_later(Http2ClientStream& stream);
  void reset(Http2ClientStream& stream, http2::ErrorCode code);
  void fail_streams(const Error& error);
  [[nodiscard]] bool is_body_too_slow(const Http2ClientStream& stream) const;
  [[nodiscard]] http2::Connection& codec() noexcept { return link_.connection(); }
  [[nodiscard]] static Http2ClientStream& as_ours(http2::Stream& stream) noexcept {
    return static_cast<Http2ClientStream&>(stream);
  }

  Worker& worker_;
  ClientInfo info_;
  IntrusiveList<Http2ClientStream> live_;
  IntrusiveList<Http2ClientStream> ending_;  // Live ones, to be looked at by settle().
  IntrusiveList<Http2ClientStream> spare_;
  http::ResponseHead no_response_;  // Nobody asks for it in this role.
  std::size_t spare_count_ = 0;
  bool used_since_tick_ = false;
  Http2Link link_;  // After the streams, which its codec refers to.
  net::MemberDeferred<Http2ClientSession, &Http2ClientSession::on_next_turn> next_turn_{*this};
  net::MemberTimer<Http2ClientSession, &Http2ClientSession::on_tick> tick_;
};

}  // namespace titanium::proxy
