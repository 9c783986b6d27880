// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/input_buffer.h"
#include "proxy/stream.h"

namespace titanium::proxy {

class Exchange;
class OriginPool;

// The origin leg of HTTP/1.1: one connection, which carries one exchange at a time and is its
// OriginStream. Owned by its pool.
class Http1OriginConnection final : public OriginStream,
                                    public ListLink<Http1OriginConnection>,
                                    private net::TransportHandler {
 public:
  Http1OriginConnection(OriginPool& pool, std::unique_ptr<net::Transport> transport);
  ~Http1OriginConnection();

  // Gives the connection to an exchange.
  void begin(Exchange& exchange);

  // False if the origin has closed it, or sent something unasked for. `ask_kernel` also finds what
  // happened since the loop last looked.
  [[nodiscard]] bool is_usable(bool ask_kernel);
  [[nodiscard]] net::TimePoint idle_since() const noexcept { return idle_since_; }

  // Bookkeeping of the pool.
  [[nodiscard]] bool is_idle() const noexcept { return idle_; }
  void set_idle(bool idle) noexcept { idle_ = idle; }
  [[nodiscard]] bool is_doomed() const noexcept { return doomed_; }
  void doom() noexcept;

  // OriginStream
  void send_head(const http::RequestHead& head) override;
  void send_body(ChunkQueue& data) override;
  void send_end(const http::FieldList& trailers) override;
  [[nodiscard]] std::size_t backlog() const noexcept override;
  void pause_body() override { paused_ = true; }
  void resume_body() override;
  void start_tunnel() override;
  void release() override;
  void abort() override;

 private:
  enum class Reading : std::uint8_t { head, body, done };

  // TransportHandler
  void on_readable() override;
  void on_writable() override;

  void on_turn_end();
  void on_next_turn();
  void read_and_process();
  // False: nothing more can be done with what is there.
  [[nodiscard]] bool process();
  [[nodiscard]] bool process_head();
  [[nodiscard]] bool process_body();
  void on_input_end(bool truncated);
  void end_response();
  void settle();
  [[nodiscard]] bool is_flushed() const noexcept;
  [[nodiscard]] bool is_quiet();
  void flush();
  void on_write_failed(Error error);
  void arm_write_stall();
  void on_stalled();
  void fail(Error error);

  OriginPool& pool_;
  std::unique_ptr<net::Transport> transport_;
  Exchange* exchange_ = nullptr;

  InputBuffer input_;
  ChunkQueue output_;
  ChunkQueue body_;  // Decoded bytes on their way to the exchange; empty between calls.
  http1::ResponseParser parser_;
  http1::BodyDecoder decoder_;
  http1::ConnectionInfo info_;
  http::FieldList trailers_;
  ChunkRef head_chunk_;  // Keeps the texts of the response head until the exchange has used them.

  Reading reading_ = Reading::done;
  http1::Framing request_framing_ = http1::Framing::none;
  http::Method method_ = http::Method::get;
  bool request_ended_ = false;
  bool response_seen_ = false;  // At least one byte of a response came.
  bool reused_ = false;
  bool paused_ = false;
  bool head_written_ = false;  // Some of the request has left.
  bool input_ended_ = false;
  bool shut_down_ = false;
  bool reusable_ = false;
  bool released_ = false;  // The exchange is over, our last bytes are not out yet.
  bool idle_ = false;
  bool doomed_ = false;
  std::size_t stalled_bytes_ = 0;  // backlog() when its progress was last looked at.
  net::TimePoint idle_since_{};
  net::MemberDeferred<Http1OriginConnection, &Http1OriginConnection::on_turn_end> turn_end_{*this};
  net::MemberDeferred<Http1OriginConnection, &Http1OriginConnection::on_next_turn> next_turn_{
      *this};
  net::MemberTimer<Http1OriginConnection, &Http1OriginConnection::on_stalled> write_stall_;
};

}  // namespace titanium::proxy
