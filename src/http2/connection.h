// SPDX-License-Identifier: MIT
//
// One HTTP/2 connection without I/O, in either role: bytes in, events out; commands in, bytes out.
// It keeps the rules of RFC 9113 (streams, flow control, settings, field blocks), schedules DATA,
// and bounds what a peer can make us do.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "base/error.h"
#include "base/intrusive_list.h"
#include "http/message.h"
#include "http2/assembly.h"
#include "http2/budget.h"
#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"
#include "http2/options.h"
#include "http2/scheduler.h"
#include "http2/settings.h"
#include "http2/stream.h"
#include "http2/streams.h"

namespace titanium::http2 {

// What happened. A handler may give any command to the connection, also for the stream at hand,
// but not destroy the connection or the stream within the call; on_closed() and on_reset() may
// destroy the stream or use it again.
class ConnectionHandler {
 public:
  // Server role: an object for a new stream; nullptr refuses it (REFUSED_STREAM).
  virtual Stream* on_new_stream() = 0;
  // Where the head of a stream is to be decoded to. Its texts live until release_head(), the next
  // head, or until the object is used for another stream.
  virtual http::RequestHead& request_of(Stream& stream) = 0;    // Server role.
  virtual http::ResponseHead& response_of(Stream& stream) = 0;  // Client role.

  // Server role: the request head is complete. `ended`: and so is the request (on_end follows not).
  virtual void on_request(Stream& stream, bool ended) = 0;
  // Server role: the head was well-formed as far as it was read, but has to be refused with
  // error.status (431, 417). The connection drops what follows of the request, and ends the stream
  // when the answer is out; request_of() holds what could be read.
  virtual void on_refused_request(Stream& stream, const Error& error) = 0;
  // Client role: a response head, interim ones included (is_interim()).
  virtual void on_response(Stream& stream, bool ended) = 0;
  // Body bytes; the handler takes everything out of `data`, and calls consumed() when the bytes
  // have moved on: that is what opens the window again.
  virtual void on_data(Stream& stream, ChunkQueue& data) = 0;
  // The peer's direction is complete. `trailers` live until the call returns.
  virtual void on_end(Stream& stream, const http::FieldList& trailers) = 0;

  // queued_bytes() of a stream that was over the mark `kQueueHigh` fell below `kQueueLow`.
  virtual void on_stream_writable(Stream& stream) = 0;
  // Both directions are complete and our last frame was produced. The connection has forgotten the
  // stream.
  virtual void on_closed(Stream& stream) = 0;
  // The stream ended early: reset by the peer, or by us because it broke a rule, or left
  // unprocessed by GOAWAY (retry: always) or REFUSED_STREAM (always). Not called for reset().
  // error.native is the ErrorCode. The connection has forgotten the stream. Server role: may come
  // without an on_request() before it.
  virtual void on_reset(Stream& stream, const Error& error) = 0;
  // The peer opens (server role) or takes (client role) no more streams.
  virtual void on_goaway() = 0;

 protected:
  ~ConnectionHandler() = default;
};

// What happened on a connection so far; for logs, metrics and tests.
struct Counters {
  std::uint64_t streams = 0;            // Opened by either side, refused ones included.
  std::uint64_t resets_received = 0;    // RST_STREAM of open streams.
  std::uint64_t incomplete_resets = 0;  // Counted against Options::incomplete_resets.
  std::uint64_t resets_sent_for_errors = 0;
  std::uint64_t refused_streams = 0;
  std::uint64_t settings = 0;
  std::uint64_t pings = 0;
  std::uint64_t empty_frames = 0;
  std::uint64_t priority_frames = 0;
  std::uint64_t window_updates = 0;
  std::uint64_t continuations = 0;
  std::uint64_t unknown_frames = 0;
};

class Connection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Queues the preface (client role) and SETTINGS. `options` is kept by reference.
  Connection(Role role, const Options& options, ChunkPool& pool, ConnectionHandler& handler,
             TimePoint now);
  // Forgets its streams without telling them.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // ---- Input

  // Takes all of `input`; what is incomplete is kept inside (at most one frame header, one small
  // control frame, and the open header block). DATA payloads are handed on as slices.
  //
  // An error is a connection error (RFC 9113 §5.4.1): GOAWAY is queued already; flush it and close.
  // Streams are not told: the owner ends them. More input is ignored then. error.native is the
  // ErrorCode.
  [[nodiscard]] Result<> receive(Slice input, TimePoint now);

  // A deadline has passed (open header block, SETTINGS without ACK): as receive(). Cheap.
  [[nodiscard]] Result<> check_deadlines(TimePoint now);
  // When to call check_deadlines() next; nullopt: nothing is waited for.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const noexcept;

  // ---- Commands
  //
  // They never call the handler. Commands for a stream that the connection does not know (any more)
  // do nothing.

  // Client role: opens a stream. can_open() has to hold. `upgrade` in the head makes it an extended
  // CONNECT. A head without body ends the direction at once; then no send_end() is needed.
  void send_request(Stream& stream, const http::RequestHead& head);
  // Server role; interim or final. The same about send_end(). An answer to an extended CONNECT that
  // accepts it is a 101; a 2xx, which would only look like that, leaves as 502 without a body.
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
  // on_stream_writable(), on_closed() and on_reset(). False: nothing was left over for later.
  bool produce(ChunkQueue& out, std::size_t budget);
  [[nodiscard]] bool has_output() const noexcept;

  // ---- State

  [[nodiscard]] bool can_open() const noexcept;  // Client role: peer's limit, ids, GOAWAY.
  [[nodiscard]] std::size_t stream_count() const noexcept { return table_.size(); }
  // What the peer allows us; a careful 100 until its SETTINGS are here.
  [[nodiscard]] std::uint32_t peer_concurrent_streams() const noexcept {
    return peer_.concurrent_streams;
  }
  [[nodiscard]] bool received_settings() const noexcept { return peer_.received; }
  // Client role; RFC 8441 §3.
  [[nodiscard]] bool peer_takes_extended_connect() const noexcept { return peer_.extended_connect; }
  // GOAWAY was sent or received.
  [[nodiscard]] bool is_draining() const noexcept { return goaway_sent_ || goaway_received_; }
  // Body bytes wait because the peer's window of the whole connection is used up.
  [[nodiscard]] bool send_window_is_closed() const noexcept {
    return send_window_.available() == 0 && !scheduler_.empty();
  }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }
  // Every stream that the connection knows, in any order. `visit` may reset() it.
  template <typename F>
  void for_each_stream(F visit) {
    streams_.for_each(visit);
  }

 private:
  // What the next input byte belongs to.
  enum class Reading : std::uint8_t { preface, frame_header, payload, data, skipped };

  // The header block that is being received; nothing else may come before it is complete (§6.10).
  struct OpenBlock {
    explicit OpenBlock(ChunkPool& pool) noexcept : bytes(pool) {}
    Assembly bytes;
    std::uint32_t stream_id = 0;  // 0: no block is open.
    std::uint32_t frames = 0;
    bool end_stream = false;
    bool depends_on_itself = false;
    std::optional<TimePoint> deadline;
  };

  // ---- connection_input.cc: bytes to frames.
  [[nodiscard]] Result<> read(const Slice& input, Bytes& rest);
  [[nodiscard]] Result<> read_preface(Bytes& rest);
  [[nodiscard]] Result<> read_frame_header(Bytes& rest);
  [[nodiscard]] Result<> read_payload(Bytes& rest);
  [[nodiscard]] Result<> begin_frame();
  [[nodiscard]] Result<> check_frame_order();
  [[nodiscard]] Result<> check_stream_id();
  [[nodiscard]] Result<> check_frame_size();
  [[nodiscard]] Result<> on_priority_of_wrong_size();
  [[nodiscard]] Result<> on_frame(Bytes payload);
  [[nodiscard]] Result<> begin_data();
  [[nodiscard]] Result<> check_data(Stream& stream);
  [[nodiscard]] Result<> read_data(const Slice& input, Bytes& rest);
  [[nodiscard]] Result<> end_data();
  [[nodiscard]] Result<> deliver_data(Slice piece);
  void drop_data(std::size_t bytes);

  // ---- connection_headers.cc: field blocks.
  [[nodiscard]] Result<> on_headers(Bytes payload);
  [[nodiscard]] Result<> on_continuation(Bytes payload);
  [[nodiscard]] Result<> on_fragment(Bytes fragment);
  [[nodiscard]] Result<> on_block(std::uint32_t id, std::string_view block);
  [[nodiscard]] Result<> open_stream(std::uint32_t id, std::string_view block);
  [[nodiscard]] Result<> on_block_of(Stream& stream, std::string_view block);
  [[nodiscard]] Result<> on_block_of_closed(std::uint32_t id, std::string_view block);
  [[nodiscard]] Result<> on_request_block(Stream& stream, std::string_view block);
  [[nodiscard]] Result<> on_request_head(Stream& stream, const http::RequestHead& head);
  [[nodiscard]] Result<> on_refused_head(Stream& stream, const Error& error);
  [[nodiscard]] Result<> on_response_block(Stream& stream, std::string_view block);
  [[nodiscard]] Result<> on_trailer_block(Stream& stream, std::string_view block);
  [[nodiscard]] Result<> ignore_block(std::string_view block);
  [[nodiscard]] Result<bool> decode(std::string_view block, const DecodeLimits& limits,
                                    FieldBlock& out);

  // ---- connection_frames.cc: all other frames.
  [[nodiscard]] Result<> on_priority(Bytes payload);
  [[nodiscard]] Result<> on_priority_update(Bytes payload);
  [[nodiscard]] Result<> on_rst_stream(Bytes payload);
  [[nodiscard]] Result<> on_settings(Bytes payload);
  [[nodiscard]] Result<> on_settings_ack();
  [[nodiscard]] Result<> apply_initial_window(std::uint32_t before);
  [[nodiscard]] Result<> on_ping(Bytes payload);
  [[nodiscard]] Result<> on_goaway(Bytes payload);
  [[nodiscard]] Result<> drop_unprocessed(std::uint32_t last_id);
  [[nodiscard]] Result<> on_window_update(Bytes payload);
  [[nodiscard]] Result<> on_frame_without_effect();
  // Errors and budgets.
  [[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string_view what);
  [[nodiscard]] Result<> spend(Budget& budget, std::uint64_t& counter, std::string_view what);
  // Counts a stream that ended before its response was complete.
  [[nodiscard]] Result<> count_incomplete_reset();
  // Ends a stream that broke a rule, and tells the owner.
  [[nodiscard]] Result<> stream_error(Stream& stream, ErrorCode code, const Error& error);
  [[nodiscard]] Result<> stream_error(Stream& stream, ErrorCode code, std::string_view what);
  // The same for an id that has no stream (any more).
  [[nodiscard]] Result<> reset_unknown(std::uint32_t id, ErrorCode code);
  void refuse_frame(std::uint32_t id, ErrorCode code);
  [[nodiscard]] Result<> refuse_stream(std::uint32_t id, std::string_view block);

  // ---- connection.cc: streams and their ends.
  [[nodiscard]] Side peer_side() const noexcept {
    return role_ == Role::server ? Side::client : Side::origin;
  }
  [[nodiscard]] Error peer_error(ErrorCode code, std::string_view what) const noexcept;
  [[nodiscard]] bool is_idle(std::uint32_t id) const noexcept;
  void attach(Stream& stream, std::uint32_t id);
  void detach(Stream& stream) noexcept;
  void apply(Stream& stream, Event event) noexcept;
  [[nodiscard]] Result<> on_peer_end(Stream& stream, const http::FieldList& trailers);
  void close_if_done(Stream& stream);

  // ---- connection_output.cc
  void queue_head(Stream& stream, bool ended);
  void end_now(Stream& stream, const http::FieldList& trailers);
  void write_reset(std::uint32_t id, ErrorCode code);
  void schedule(Stream& stream) noexcept;
  void note_window_due(Stream& stream) noexcept;
  void flush_control(ChunkQueue& out);
  void write_window_updates();
  void tune_window(Stream& stream);
  void shrink_window(Stream& stream) noexcept;
  void return_growth(Stream& stream, std::uint32_t size) noexcept;
  void produce_data(Stream& stream, ChunkQueue& out);
  void explain_replies(std::size_t bytes) noexcept;
  void write_data_frame(Stream& stream, std::size_t bytes, bool ended, ChunkQueue& out);
  void write_queued_trailers(Stream& stream);

  const Role role_;
  const Options& options_;
  ConnectionHandler& handler_;

  // Input.
  Reading reading_;
  bool failed_ = false;
  bool pad_length_known_ = false;
  bool data_is_empty_ = false;    // The DATA frame at hand brought no body byte so far.
  std::uint8_t header_seen_ = 0;  // Bytes of header_bytes_, or of the preface.
  std::array<std::uint8_t, kFrameHeaderBytes> header_bytes_{};
  FrameHeader frame_;
  std::uint32_t payload_left_ = 0;
  std::uint32_t padding_left_ = 0;
  TimePoint now_;
  Assembly partial_;  // The payload of a control frame that was cut.
  OpenBlock block_;
  HpackDecoder decoder_;
  FieldBlock scratch_block_;
  http::FieldList trailers_;
  ChunkQueue piece_;

  // Streams.
  IntrusiveList<Stream> streams_;
  StreamTable table_;
  ClosedStreams closed_;
  Scheduler scheduler_;
  IntrusiveList<Stream, WindowDue> window_due_;
  IntrusiveList<Stream, LastInQueue> last_in_queue_;
  std::uint32_t next_own_id_;       // Client role: of the next stream.
  std::uint32_t last_peer_id_ = 0;  // Server role: the highest that was used.
  std::uint32_t last_accepted_id_ = 0;
  std::uint32_t goaway_limit_ = 0x7fff'ffff;  // Client role: the highest id that the peer takes.
  bool goaway_sent_ = false;
  bool goaway_received_ = false;

  // Settings and windows.
  PeerSettings peer_;
  std::optional<TimePoint> ack_deadline_;  // Until the peer has confirmed our SETTINGS.
  SendWindow send_window_{kDefaultWindow};
  ReceiveWindow receive_window_;
  std::uint32_t window_growth_ = 0;  // Of all streams, and so of receive_window_.
  TimePoint began_;
  std::optional<std::chrono::steady_clock::duration>
      round_trip_;  // As the ACK of our SETTINGS took.

  // Output.
  HpackEncoder encoder_;
  std::string encoded_;
  http::FieldList own_trailers_;
  ChunkQueue control_;           // All frames but DATA, in order.
  std::size_t reply_bytes_ = 0;  // Of control_: what the peer made us say.

  Budget incomplete_resets_;
  Budget settings_frames_;
  Budget pings_;
  Budget empty_frames_;
  Budget priority_frames_;
  Budget window_updates_;
  Budget unknown_frames_;
  Counters counters_;
};

}  // namespace titanium::http2
