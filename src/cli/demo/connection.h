// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "cli/demo/answer.h"
#include "http/date.h"
#include "http/message.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "http1/serializer.h"
#include "net/event_loop.h"
#include "net/transport.h"
#include "proxy/input_buffer.h"

namespace titanium::cli::demo {

class Connection;

// Who owns the connections.
class ConnectionOwner {
 public:
  // Destroys the connection at the end of this turn.
  virtual void retire(Connection& connection) = 0;
  // Calls Connection::resume() in the next turn, so that a busy connection cannot starve others.
  virtual void resume_soon(Connection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

// One HTTP/1.1 connection of the demo origin: reads requests in order, has an Answer made for each,
// and writes what the answers produce.
class Connection final : public AnswerSink,
                         private net::TransportHandler,
                         private net::TimerHandler,
                         private net::Deferred {
 public:
  struct Context {
    net::EventLoop& loop;
    ChunkPool& pool;
    http::DateCache& date;
    ConnectionOwner& owner;
  };
  Connection(const Context& context, std::uint64_t id, std::unique_ptr<net::Transport> transport);

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  // Goes on with input and output after a pause.
  void resume();

 private:
  enum class Phase : std::uint8_t {
    head,     // Between requests, or within a head.
    body,     // An exchange: request body and response, both possibly still under way.
    closing,  // The last response is leaving; then input is dropped until the peer has closed.
    gone,
  };

  // net::TransportHandler
  void on_readable() override { pump(); }
  void on_writable() override;
  // net::TimerHandler
  void on_timer(net::Timer& timer) override;
  // net::Deferred
  void on_turn_end() override { flush(); }
  // AnswerSink
  void send_head(std::uint16_t status, http::BodySize body,
                 std::span<const FieldLine> fields) override;
  void send_upgrade(std::string_view protocol, std::span<const FieldLine> fields) override;
  void send_body(std::string_view text) override;
  void send_end(std::span<const FieldLine> trailers) override;
  [[nodiscard]] std::size_t room() const override;
  void wake_after(net::Duration after) override { answer_timer_.arm(after); }

  void pump();
  void process_input();
  bool step_head();
  bool step_body();
  void begin_exchange(std::size_t head_bytes);
  void begin_answer(std::unique_ptr<Answer> answer);
  void refuse(const Error& error);
  bool end_exchange_if_done();
  [[nodiscard]] bool wants_input() const;
  void peer_ended();
  void flush();
  bool write_some();
  void begin_closing();
  void die();
  void note_progress();

  net::EventLoop& loop_;
  http::DateCache& date_;
  ConnectionOwner& owner_;
  const std::uint64_t id_;
  std::unique_ptr<net::Transport> transport_;

  Phase phase_ = Phase::head;
  proxy::InputBuffer input_;
  http1::RequestParser parser_;
  http1::BodyDecoder decoder_{Side::client};
  http::RequestHead request_;
  http1::ConnectionInfo info_;
  http::FieldList request_trailers_;
  bool head_began_ = false;  // The deadline for the head is running.
  bool request_done_ = false;
  bool response_done_ = false;

  std::unique_ptr<Answer> answer_;
  http::ResponseHead response_;
  http1::Framing framing_ = http1::Framing::none;
  bool is_head_request_ = false;
  bool close_after_ = false;
  bool is_tunnel_ = false;

  ChunkQueue out_;
  ChunkQueue piece_;  // One chunk before it is framed.
  bool shutdown_sent_ = false;
  net::Timer idle_timer_;
  net::Timer answer_timer_;
};

}  // namespace titanium::cli::demo
