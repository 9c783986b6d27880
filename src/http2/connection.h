// SPDX-License-Identifier: MIT
//
// One HTTP/2 connection without I/O, in either role: bytes in, events out; commands in, bytes out.
// It keeps the rules of RFC 9113 (streams, flow control, settings, field blocks), schedules DATA,
// and bounds what a peer can make us do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/chunk.h"
#include "base/error.h"
#include "base/intrusive_list.h"
#include "http/message.h"
#include "http2/options.h"
#include "http2/stream_state.h"

namespace titanium::http2 {

enum class Role : std::uint8_t { client, server };

// A stream as the connection knows it. The owner derives from it, and keeps it for as long as the
// connection refers to it: from on_new_stream() or send_request() until on_closed() or on_reset().
// Ready for another stream after that; keeps its memory.
class Stream : public ListLink<Stream> {
 public:
  explicit Stream(ChunkPool& pool);

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  // Body bytes that were sent but not produced yet.
  [[nodiscard]] std::size_t queued_bytes() const noexcept;

 protected:
  ~Stream();

 private:
  friend class Connection;
  // Sketch; the implementation decides. State, windows, queued body, trailers to send, urgency
  // (RFC 9218), declared and seen body bytes, the texts of its head (FieldBlock).
  std::uint32_t id_ = 0;
};

// What happened. A handler may give any command to the connection, also for the stream at hand,
// but not destroy the connection or the stream within the call.
class ConnectionHandler {
 public:
  // Server role: an object for a new stream; nullptr refuses it (REFUSED_STREAM).
  virtual Stream* on_new_stream() = 0;
  // Where the head of a stream is to be decoded to. Its texts live until release_head() or until
  // the stream is over.
  virtual http::RequestHead& request_of(Stream& stream) = 0;    // Server role.
  virtual http::ResponseHead& response_of(Stream& stream) = 0;  // Client role.

  // Server role: the request head is complete. `ended`: and so is the request (on_end follows not).
  virtual void on_request(Stream& stream, bool ended) = 0;
  // Server role: the head was well-formed, but has to be refused with error.status (431). The
  // connection drops what follows of the request; request_of() holds what could be read.
  virtual void on_refused_request(Stream& stream, const Error& error) = 0;
  // Client role: a response head, interim ones included (is_interim()).
  virtual void on_response(Stream& stream, bool ended) = 0;
  // Body bytes; the handler takes everything out of `data`, and calls consumed() when the bytes
  // have moved on: that is what opens the window again.
  virtual void on_data(Stream& stream, ChunkQueue& data) = 0;
  // The peer's direction is complete.
  virtual void on_end(Stream& stream, const http::FieldList& trailers) = 0;

  // queued_bytes() of a stream that was over the mark `kQueueHigh` fell below `kQueueLow`.
  virtual void on_stream_writable(Stream& stream) = 0;
  // Both directions are complete and our last frame was produced. The connection has forgotten the
  // stream.
  virtual void on_closed(Stream& stream) = 0;
  // The stream ended early: reset by the peer, or by us because it broke a rule, or left
  // unprocessed by GOAWAY (retry: always) or REFUSED_STREAM (always). Not called for reset().
  // The connection has forgotten the stream.
  virtual void on_reset(Stream& stream, const Error& error) = 0;
  // The peer opens (server role) or takes (client role) no more streams.
  virtual void on_goaway() = 0;

 protected:
  ~ConnectionHandler() = default;
};

inline constexpr std::size_t kQueueHigh = 128 * 1024;
inline constexpr std::size_t kQueueLow = 32 * 1024;

class Connection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Queues the preface (client role) and SETTINGS.
  Connection(Role role, const Options& options, ChunkPool& pool, ConnectionHandler& handler,
             TimePoint now);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // ---- Input

  // Takes all of `input`; what is incomplete is kept inside (at most one frame header, one small
  // control frame, and the open header block). DATA payloads are handed on as slices.
  //
  // An error is a connection error (RFC 9113 §5.4.1): GOAWAY is queued already; flush it and close.
  // Streams are not told: the owner ends them. More input is ignored then.
  [[nodiscard]] Result<> receive(Slice input, TimePoint now);

  // A deadline has passed (open header block, SETTINGS without ACK): as receive(). Cheap.
  [[nodiscard]] Result<> check_deadlines(TimePoint now);
  // When to call check_deadlines() next; nullopt: nothing is waited for.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const noexcept;

  // ---- Commands

  // Client role: opens a stream. can_open() has to hold. `upgrade` in the head makes it an extended
  // CONNECT. A head without body ends the direction at once; then no send_end() is needed.
  void send_request(Stream& stream, const http::RequestHead& head);
  // Server role; interim or final. The same about send_end().
  void send_response(Stream& stream, const http::ResponseHead& head);
  // Takes everything out of `data`. DATA leaves as the windows and the other streams allow.
  void send_data(Stream& stream, ChunkQueue& data);
  // The end of our direction, after what is queued. Ignored after the end.
  void send_end(Stream& stream, const http::FieldList& trailers);
  // Ends the stream with RST_STREAM; what was queued for it is dropped. The connection forgets it,
  // without on_reset() or on_closed(). If both directions are complete it only forgets.
  void reset(Stream& stream, ErrorCode code);
  // The owner has passed on `bytes` of what on_data() gave it, or dropped them.
  void consumed(Stream& stream, std::size_t bytes);
  // The texts of the stream's head are not needed any more.
  void release_head(Stream& stream);

  // Queues GOAWAY(NO_ERROR) with the highest id that was accepted: later streams are refused, the
  // others finish. Server role: a first GOAWAY with 2^31-1 would need another round trip (§6.8);
  // what races with ours is refused with a code that says that it can be sent again.
  void start_drain();

  // ---- Output

  // Appends to `out` what can be sent now: all control frames and heads, then DATA of the streams
  // in turn (by urgency, then round robin), until `budget` bytes are in `out`. May call
  // on_stream_writable() and on_closed(). False: nothing was left over for later.
  bool produce(ChunkQueue& out, std::size_t budget);
  [[nodiscard]] bool has_output() const noexcept;

  // ---- State

  [[nodiscard]] bool can_open() const noexcept;  // Client role: peer's limit, ids, GOAWAY.
  [[nodiscard]] std::size_t stream_count() const noexcept;
  [[nodiscard]] std::uint32_t peer_concurrent_streams() const noexcept;
  [[nodiscard]] bool received_settings() const noexcept;
  [[nodiscard]] bool peer_takes_extended_connect() const noexcept;  // Client role; RFC 8441 §3.
  [[nodiscard]] bool is_draining() const noexcept;                  // GOAWAY was sent or received.
  // Every stream that the connection knows, in any order.
  template <typename F>
  void for_each_stream(F visit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::http2
