// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/intrusive_list.h"
#include "http2/connection.h"
#include "net/bound.h"
#include "origin/request_route.h"
#include "origin/session.h"
#include "origin/websocket_echo.h"

namespace titanium::probe {

// An HTTP/2 connection of the origin: clear by prior knowledge, or TLS by ALPN. What a turn of the
// loop has to say leaves with one write.
class Http2OriginSession final : public OriginSession,
                                 private net::TransportHandler,
                                 private http2::ConnectionHandler {
 public:
  Http2OriginSession(const OriginShared& shared, std::unique_ptr<net::Transport> transport);
  ~Http2OriginSession() override;

  void start(std::string_view received) override;

 private:
  // A request and its answer.
  class Stream final : public http2::Stream, public ListLink<Stream> {
   public:
    explicit Stream(ChunkPool& pool) : http2::Stream(pool), message(pool) {}

    RequestRoute route;
    bool head_only = false;
    bool answered = false;
    std::uint64_t seen = 0;          // Bytes of the request.
    std::uint64_t pattern_at = 0;    // Of an answer of N bytes: what is queued,
    std::uint64_t pattern_left = 0;  // and what is not.
    // Bytes of an echo that the client may not replace yet: too much of it waits to be sent.
    std::size_t held_back = 0;
    ChunkQueue message;  // gRPC.
    WebSocketEcho websocket;
    std::string partial;  // Part of a WebSocket frame.
  };

  void on_readable() override { read_all(); }
  void on_writable() override { flush(); }

  http2::Stream* on_new_stream() override;
  http::RequestHead& request_of(http2::Stream&) override { return request_; }
  http::ResponseHead& response_of(http2::Stream&) override { return answer_; }
  void on_request(http2::Stream& stream, bool ended) override;
  void on_refused_request(http2::Stream& stream, const Error& error) override;
  void on_response(http2::Stream&, bool) override {}
  void on_data(http2::Stream& stream, ChunkQueue& data) override;
  void on_end(http2::Stream& stream, const http::FieldList& trailers) override;
  void on_stream_writable(http2::Stream& stream) override;
  void on_closed(http2::Stream& stream) override;
  void on_reset(http2::Stream& stream, const Error& error) override;
  void on_goaway() override {}

  void read_all();
  // False: the session is over.
  [[nodiscard]] bool deliver(const Slice& bytes);
  void on_piece(Stream& stream, std::string_view piece);
  void end_request(Stream& stream);
  void echo_frames(Stream& stream, std::string_view piece);
  void answer(Stream& stream);
  void answer_grpc(Stream& stream);
  void refuse(Stream& stream, std::uint16_t status);
  void send_head(Stream& stream, std::string_view content_type, const http::BodySize& body);
  // Queues more of an answer of N bytes.
  void fill(Stream& stream);
  void retire(Stream& stream);

  void schedule() noexcept { shared_.loop.defer(turn_end_); }
  void flush();
  void close();

  const OriginShared& shared_;
  std::unique_ptr<net::Transport> transport_;
  http2::Connection codec_;
  http::RequestHead request_;
  http::ResponseHead answer_;
  http::FieldList grpc_ok_;  // Trailers.
  ChunkQueue body_;          // Empty but for the moment in which something is sent.
  ChunkQueue output_;
  IntrusiveList<Stream> live_;  // Both lists own their streams.
  IntrusiveList<Stream> spare_;
  bool failed_ = false;  // GOAWAY is to go out, then the connection ends.
  net::MemberDeferred<Http2OriginSession, &Http2OriginSession::flush> turn_end_{*this};
};

}  // namespace titanium::probe
