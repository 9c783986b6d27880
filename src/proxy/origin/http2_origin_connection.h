// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "http2/connection.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/http2_inbound.h"
#include "proxy/http2_link.h"
#include "proxy/stream.h"

namespace titanium::proxy {

class Exchange;
class Http2OriginConnection;
class OriginPool;

// One exchange on a shared connection.
class Http2OriginStream final : public http2::Stream,
                                public OriginStream,
                                public ListLink<Http2OriginStream> {
 public:
  Http2OriginStream(Http2OriginConnection& connection, ChunkPool& pool);

  // OriginStream
  void send_head(const http::RequestHead& head) override;
  void send_body(ChunkQueue& data) override;
  void send_end(const http::FieldList& trailers) override;
  [[nodiscard]] std::size_t backlog() const noexcept override;
  [[nodiscard]] bool may_be_refused() const noexcept override { return true; }
  void pause_body() override { paused_ = true; }
  void resume_body() override;
  void start_tunnel() override;
  void release() override;
  void abort() override;

 private:
  friend class Http2OriginConnection;

  Http2OriginConnection& connection_;
  Exchange* exchange_ = nullptr;
  Http2Inbound inbound_;
  bool opened_ = false;    // The codec knows the stream.
  bool upgrades_ = false;  // The request asked for a tunnel.
  bool tunnel_ = false;
  bool paused_ = false;
  bool resumed_ = false;  // What was kept is to be delivered in the next turn.
  bool response_seen_ = false;
  bool response_ended_ = false;     // The exchange knows.
  bool takes_request_ = true;       // The origin wants more of the request.
  std::uint64_t begun_at_ = 0;      // taken_bytes() of the link when the request was queued.
  std::uint64_t stalled_at_ = 0;    // produced_bytes() when its progress was last looked at,
  net::TimePoint stalled_since_{};  // and since when it is that.
};

// The origin leg of HTTP/2: one connection that many exchanges share. Owned by its pool.
class Http2OriginConnection final : public ListLink<Http2OriginConnection>,
                                    private http2::ConnectionHandler,
                                    private Http2Link::Owner {
 public:
  Http2OriginConnection(OriginPool& pool, std::unique_ptr<net::Transport> transport);
  ~Http2OriginConnection();

  // ---- For the pool

  [[nodiscard]] bool is_open() const noexcept { return !doomed_ && !leaving_; }
  // True if another stream can be opened, for this exchange.
  [[nodiscard]] bool can_carry(const Exchange& exchange);
  [[nodiscard]] bool refuses_extended_connect();
  // How many streams the origin takes is not known yet.
  [[nodiscard]] bool awaits_settings() { return !codec().received_settings(); }
  [[nodiscard]] bool was_used() const noexcept { return used_; }
  // Gives a stream to the exchange. can_carry() has to hold.
  [[nodiscard]] OriginStream& open(Exchange& exchange);
  // Takes no more streams, and ends with the last one.
  void drain();
  [[nodiscard]] bool is_doomed() const noexcept { return doomed_; }
  void doom() noexcept;

 private:
  friend class Http2OriginStream;
  static constexpr std::size_t kKeptStreams = 128;

  // http2::ConnectionHandler
  http2::Stream* on_new_stream() override { return nullptr; }
  http::RequestHead& request_of(http2::Stream& stream) override;
  http::ResponseHead& response_of(http2::Stream& stream) override;
  void on_request(http2::Stream& /*stream*/, bool /*ended*/) override {}
  void on_refused_request(http2::Stream& /*stream*/, const Error& /*error*/) override {}
  void on_response(http2::Stream& stream, bool ended) override;
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
  void tick_within(net::Duration after);
  [[nodiscard]] net::Duration watch(Http2OriginStream& stream);
  void deliver(Http2OriginStream& stream);
  void end_response(Http2OriginStream& stream, const http::FieldList& trailers);
  void close_if_unused();
  void retire(Http2OriginStream& stream);
  void fail(Http2OriginStream& stream, const Error& error);
  [[nodiscard]] static Http2OriginStream& as_ours(http2::Stream& stream) noexcept {
    return static_cast<Http2OriginStream&>(stream);
  }
  [[nodiscard]] http2::Connection& codec() noexcept { return link_.connection(); }

  OriginPool& pool_;
  IntrusiveList<Http2OriginStream> live_;
  IntrusiveList<Http2OriginStream> spare_;
  IntrusiveList<Http2OriginStream> retired_;  // Over; spare from the next turn on.
  http::RequestHead no_request_;              // Nobody asks for it in this role.
  http::ResponseHead unwanted_;               // For heads that come after the exchange has left.
  std::size_t spare_count_ = 0;
  Http2Link link_;  // After the streams, which its codec refers to.
  bool used_ = false;
  bool leaving_ = false;  // No new streams.
  bool doomed_ = false;
  net::MemberDeferred<Http2OriginConnection, &Http2OriginConnection::on_next_turn> next_turn_{
      *this};
  net::TimePoint idle_since_;  // Counts only without streams.
  net::TimePoint tick_at_{};
  net::MemberTimer<Http2OriginConnection, &Http2OriginConnection::on_tick> tick_;
};

}  // namespace titanium::proxy
