// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "net/bound.h"
#include "origin/request_route.h"
#include "origin/session.h"
#include "origin/websocket_echo.h"

namespace titanium::probe {

// An HTTP/1 connection of the origin. Answers in order, and takes up the next request only when the
// answer before it has gone, so that no client makes it hold more than one answer.
class Http1OriginSession final : public OriginSession, private net::TransportHandler {
 public:
  Http1OriginSession(const OriginShared& shared, std::unique_ptr<net::Transport> transport);
  ~Http1OriginSession() override;

  void start(std::string_view received) override;

 private:
  // More than this waiting for the client: nothing more is read.
  static constexpr std::size_t kHighWaterBytes = 256 * 1024;
  // A client that does not end its side of a finished connection is cut off.
  static constexpr net::Duration kLinger{5'000};

  enum class State : std::uint8_t { head, body, websocket, closing };

  // What of a request head decides the rest.
  struct Request {
    RequestRoute route;
    http1::MessageFraming framing;
    bool persistent = false;
    bool head_only = false;  // HEAD
    bool expects_continue = false;
  };

  void on_readable() override { read_all(); }
  void on_writable() override;

  void read_all();
  // False: the session is over.
  [[nodiscard]] bool deliver(std::string_view bytes);
  // Goes on with what had to wait. False: the session is over.
  [[nodiscard]] bool resume();
  [[nodiscard]] std::size_t consume(std::string_view bytes);
  // True: what comes next has to wait until the client has taken more.
  [[nodiscard]] bool hold_back() noexcept;
  // The length of the head; 0: incomplete, or refused.
  [[nodiscard]] std::size_t take_head(std::string_view bytes);
  [[nodiscard]] std::size_t parse_head(std::string_view bytes);
  [[nodiscard]] std::size_t take_body(std::string_view bytes);
  [[nodiscard]] std::size_t take_frames(std::string_view bytes);

  void start_request();
  void start_echo();
  void on_body(std::string_view piece);
  void answer();
  void end_request();
  void accept_websocket();
  void refuse(std::string_view status_line);

  void fill();
  void flush();
  void finish_output();
  void close();
  [[nodiscard]] bool is_congested() const noexcept {
    return pattern_left_ > 0 || output_.size() > kHighWaterBytes;
  }
  [[nodiscard]] std::time_t now() const noexcept { return shared_.loop.wall_seconds(); }

  const OriginShared& shared_;
  std::unique_ptr<net::Transport> transport_;
  ChunkQueue output_;
  std::string pending_;  // Read and not used: part of a head, or requests that have to wait.
  State state_ = State::head;
  // The head received last, and what it says: the same bytes mean the same.
  std::string last_head_;
  Request request_;
  std::string websocket_key_;
  http1::RequestParser parser_;
  http1::BodyDecoder body_{Side::client};
  http::RequestHead head_;
  http::FieldList trailers_;
  std::uint64_t body_seen_ = 0;
  bool answered_ = false;
  bool held_back_ = false;
  bool peer_ended_ = false;
  std::uint64_t pattern_at_ = 0;    // Of /bytes/N: what is queued,
  std::uint64_t pattern_left_ = 0;  // and what is not.
  ChunkQueue echo_;                 // Becomes a chunk.
  WebSocketEcho websocket_;
  net::MemberTimer<Http1OriginSession, &Http1OriginSession::close> linger_;
};

}  // namespace titanium::probe
