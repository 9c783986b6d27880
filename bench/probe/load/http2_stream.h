// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "http/message.h"
#include "http2/stream.h"
#include "load/client_connection.h"
#include "load/echo_check.h"
#include "origin/content.h"
#include "service/alarm_clock.h"

namespace titanium::probe {

class Http2LoadStream;

// The connection, as its streams see it.
class Http2StreamOwner {
 public:
  virtual void send(Http2LoadStream& stream, std::string_view bytes) = 0;
  // The slow consumer, or the fast one, has taken so many bytes.
  virtual void consumed(Http2LoadStream& stream, std::size_t bytes) = 0;
  // The exchange was what it should be, and is over. The stream may have begun another one when
  // the call returns.
  virtual void on_exchange_done(Http2LoadStream& stream) = 0;
  virtual void on_stream_failed(Http2LoadStream& stream, std::string_view what) = 0;

 protected:
  ~Http2StreamOwner() = default;
};

// What an exchange is on the inside: looks at the answer, and is slow if it is told so. A WebSocket
// stays open from exchange to exchange; else an exchange has a stream of the connection.
class Http2LoadStream final : public http2::Stream,
                              public ListLink<Http2LoadStream>,
                              private AlarmHandler {
 public:
  Http2LoadStream(Http2StreamOwner& owner, const ClientShared& shared);
  ~Http2LoadStream();

  void assign(Exchange& exchange) noexcept;
  [[nodiscard]] Exchange& exchange() const noexcept { return *exchange_; }
  [[nodiscard]] bool has_exchange() const noexcept { return exchange_ != nullptr; }
  [[nodiscard]] Exchange& take_exchange() noexcept { return *std::exchange(exchange_, nullptr); }
  // The state of an exchange that is over, or begins anew.
  void restart() noexcept;
  // It waits a second time.
  [[nodiscard]] bool was_returned() const noexcept { return returned_; }
  void note_returned() noexcept { returned_ = true; }

  // WebSocket: sends the message.
  void send_message();
  [[nodiscard]] bool is_open_tunnel() const noexcept { return phase_ == Phase::tunnel; }

  // What the peer said. Each may end the exchange, through the owner.
  void on_answer(const http::ResponseHead& head, bool ended);
  void on_piece(ChunkQueue& data);
  void on_answer_end(const http::FieldList& trailers);
  void on_closed();
  void on_reset(const Error& error);
  // What an end means that comes now.
  [[nodiscard]] std::string describe_end(std::string_view what) const;

 private:
  enum class Phase : std::uint8_t { head, body, tunnel, ended };

  void on_alarm() override;
  void take_frames(std::string_view bytes);
  void read_slowly(std::size_t bytes);
  void read_portion();
  void end_answer(const http::FieldList& fields);
  void finish_if_complete();
  void fail(std::string_view what) { owner_.on_stream_failed(*this, what); }

  Http2StreamOwner& owner_;
  const ClientShared& shared_;
  Exchange* exchange_ = nullptr;
  Phase phase_ = Phase::head;
  bool closed_ = false;    // Both directions are over.
  bool returned_ = false;  // The peer gave it back once, unprocessed.
  BodyCheck check_;
  // Slow consumer: what has arrived and was not read, and what may be read before the next pause.
  std::size_t unread_ = 0;
  std::size_t portion_ = 0;
  bool paused_ = false;
  std::unique_ptr<EchoCheck> echo_;  // Only for WebSockets.
  std::string partial_;              // Part of a frame's header.
};

}  // namespace titanium::probe
