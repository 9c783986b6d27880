// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/chunk.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/client/client_connection.h"
#include "proxy/exchange.h"
#include "proxy/input_buffer.h"
#include "proxy/stream.h"

namespace titanium::proxy {

// The client leg of HTTP/1.x: one connection that carries one exchange after the other, in the
// order in which they came, and is the ClientStream of the current one.
class Http1ClientSession final : public ClientConnection,
                                 public ClientStream,
                                 private net::TransportHandler {
 public:
  // `received`: what was read to find out that this is HTTP/1.
  Http1ClientSession(Worker& worker, std::unique_ptr<net::Transport> transport,
                     InputBuffer received, ClientInfo info, AdmissionTicket ticket);
  ~Http1ClientSession() override;

  // Starts reading. With `refuse`, the connection only gets this error as its answer.
  void start(const Error* refuse = nullptr);

  void drain() override;

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
  // What the bytes that come next on the connection are.
  enum class Reading : std::uint8_t {
    head,     // A request head, or nothing: the connection is idle.
    body,     // The body of the current request.
    waiting,  // The next request; it has to wait for the end of the current response.
    nothing,  // Of no interest: the connection is about to be closed.
  };
  // How the connection ends.
  enum class Closing : std::uint8_t { no, flushing, lingering };

  // TransportHandler
  void on_readable() override;
  void on_writable() override;

  void on_turn_end();
  void on_next_turn();
  void on_timeout();
  void schedule();
  void want_input();

  void read_and_process();
  [[nodiscard]] bool wants_input() const;
  // True: something was used up, and what follows may be, too.
  [[nodiscard]] bool process();
  [[nodiscard]] bool process_head();
  [[nodiscard]] bool process_body();
  [[nodiscard]] bool process_unwanted(ChunkQueue& body, const Result<bool>& done);
  void end_request();
  void refuse_request(const Error& error);
  void on_input_end(bool truncated);
  void finish_input();
  void stop_reading();
  void on_lost(const Error& error);

  void answer_websocket_key();
  void flush();
  void next_message();
  void begin_close();
  void finish_close();
  void arm_if_client_is_awaited();
  [[nodiscard]] bool is_body_too_slow() const;

  Worker& worker_;
  std::unique_ptr<net::Transport> transport_;
  ClientInfo info_;
  Exchange* exchange_ = nullptr;  // Borrowed from the worker while there is a request.

  InputBuffer input_;
  ChunkQueue output_;
  ChunkRef head_chunk_;  // Keeps the texts of the request head.
  http1::RequestParser parser_;
  http1::BodyDecoder decoder_;
  http1::ConnectionInfo request_info_;
  std::string websocket_accept_;

  Reading reading_ = Reading::head;
  Closing closing_ = Closing::no;
  http1::Framing response_framing_ = http1::Framing::none;
  http::Version version_ = http::Version::http11;
  bool in_head_ = false;     // Some, but not all bytes of a head are there.
  bool paused_ = false;      // The exchange takes no body bytes now.
  bool discarding_ = false;  // Body bytes are read and dropped.
  bool request_done_ = false;
  bool response_done_ = false;
  bool response_begun_ = false;
  bool continue_sent_ = false;
  bool keep_alive_ = false;    // After the current response.
  bool linger_ = false;        // Read on for a while after our last byte.
  bool processing_ = false;    // read_and_process() is running and will see what changes.
  bool read_stopped_ = false;  // The last read was not followed by "would block".
  bool input_ended_ = false;
  bool shut_down_ = false;
  bool draining_ = false;
  bool reset_ = false;           // End with a reset, as the response is incomplete.
  bool was_paused_ = false;      // At some time since the timer was armed for the body.
  bool response_moved_ = false;  // The same: bytes of its body came.
  std::size_t discarded_bytes_ = 0;
  std::uint64_t window_bytes_ = 0;  // Of the body, since the timer was armed for it.
  std::size_t stalled_bytes_ = 0;   // backlog() when its progress was last looked at.
  net::Duration linger_time_;
  net::MemberDeferred<Http1ClientSession, &Http1ClientSession::on_turn_end> turn_end_{*this};
  net::MemberDeferred<Http1ClientSession, &Http1ClientSession::on_next_turn> next_turn_{*this};
  net::MemberTimer<Http1ClientSession, &Http1ClientSession::on_timeout> timer_;
};

}  // namespace titanium::proxy
