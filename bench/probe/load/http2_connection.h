// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/intrusive_list.h"
#include "http2/connection.h"
#include "load/http2_stream.h"
#include "load/transport_connection.h"
#include "net/bound.h"

namespace titanium::probe {

// HTTP/2, clear by prior knowledge or over TLS by ALPN: as many exchanges at a time as the driver
// begins and the peer allows; the others wait. What a turn of the loop has to say leaves with one
// write.
//
// A stream that breaks a rule fails its own exchange; a connection that breaks fails all of them.
class Http2Connection final : public TransportConnection,
                              private http2::ConnectionHandler,
                              private Http2StreamOwner {
 public:
  explicit Http2Connection(const ClientShared& shared);
  ~Http2Connection() override;

  void begin(Exchange& exchange) override;
  void abandon() override;

 private:
  // TransportConnection
  [[nodiscard]] std::size_t consume(std::string_view bytes) override;
  void on_sent() override;
  void on_ended(std::string_view what) override;

  // http2::ConnectionHandler
  http2::Stream* on_new_stream() override { return nullptr; }
  http::RequestHead& request_of(http2::Stream&) override { return ignored_; }
  http::ResponseHead& response_of(http2::Stream&) override { return answer_; }
  void on_request(http2::Stream&, bool) override {}
  void on_refused_request(http2::Stream&, const Error&) override {}
  void on_response(http2::Stream& stream, bool ended) override;
  void on_data(http2::Stream& stream, ChunkQueue& data) override;
  void on_end(http2::Stream& stream, const http::FieldList& trailers) override;
  void on_stream_writable(http2::Stream&) override {}
  void on_closed(http2::Stream& stream) override;
  void on_reset(http2::Stream& stream, const Error& error) override;
  void on_goaway() override { schedule(); }

  // Http2StreamOwner
  void send(Http2LoadStream& stream, std::string_view bytes) override;
  void consumed(Http2LoadStream& stream, std::size_t bytes) override;
  void on_exchange_done(Http2LoadStream& stream) override;
  void on_stream_failed(Http2LoadStream& stream, std::string_view what) override;

  [[nodiscard]] bool connect();
  [[nodiscard]] bool can_start() const noexcept;
  [[nodiscard]] Http2LoadStream& take_spare();
  void start(Http2LoadStream& stream);
  void start_waiting();
  // Takes the stream from its exchange and keeps it for another.
  void retire(Http2LoadStream& stream);
  void fail(Http2LoadStream& stream, std::string_view what);
  void fail_all(IntrusiveList<Http2LoadStream>& streams, std::string_view what);
  // A stream that was never processed may have one more connection.
  [[nodiscard]] bool may_wait_again(Http2LoadStream& stream);
  void schedule() noexcept { shared_.loop.defer(turn_end_); }
  void on_turn_end();
  // Ends the connection, but not the streams that wait.
  void drop() noexcept;

  const bool is_websocket_;
  const http2::Options options_;
  http::RequestHead request_;  // The same for all exchanges; views into what outlives this.
  http::RequestHead ignored_;
  http::ResponseHead answer_;
  ChunkQueue body_;  // Empty but for the moment in which a request is sent.
  // Streams are owned by these lists: in use, waiting for their turn, open WebSockets without an
  // exchange, and free ones.
  IntrusiveList<Http2LoadStream> live_;
  IntrusiveList<Http2LoadStream> waiting_;
  IntrusiveList<Http2LoadStream> tunnels_;
  IntrusiveList<Http2LoadStream> spare_;
  std::unique_ptr<http2::Connection> codec_;
  bool used_up_ = false;  // Without keep-alive: the connection had its exchange.
  net::MemberDeferred<Http2Connection, &Http2Connection::on_turn_end> turn_end_{*this};
};

}  // namespace titanium::probe
