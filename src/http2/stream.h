// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "http/message.h"
#include "http2/flow_control.h"
#include "http2/hpack/decoder.h"
#include "http2/stream_state.h"

namespace titanium::http2 {

// A sender stops when queued_bytes() of a stream goes over kQueueHigh, and is told when it fell
// below kQueueLow.
inline constexpr std::size_t kQueueHigh = 128 * 1024;
inline constexpr std::size_t kQueueLow = 32 * 1024;

// What a peer asked for a stream (RFC 9218 §4). Without a wish, streams take turns.
struct Priority {
  static constexpr std::uint8_t kLevels = 8;
  std::uint8_t urgency = 3;  // 0 goes first.
  bool incremental = true;   // Shares its level; else it is sent in one go.

  bool operator==(const Priority&) const = default;
};

// The lists of a connection that a stream can be in, besides that of all streams.
struct SendTurn;     // Has body bytes to send, and a window for them.
struct WindowDue;    // A WINDOW_UPDATE is to be sent.
struct LastInQueue;  // Its last frame lies in the queue of control frames.

// A stream as the connection knows it. The owner derives from it, and keeps it for as long as the
// connection refers to it: from on_new_stream() or send_request() until on_closed(), on_reset() or
// reset(). Ready for another stream then (also within these calls); keeps its memory.
class Stream : public ListLink<Stream>,
               public ListLink<SendTurn>,
               public ListLink<WindowDue>,
               public ListLink<LastInQueue> {
 public:
  explicit Stream(ChunkPool& pool) : queue_(pool) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // 0: no connection knows the stream.
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  // Body bytes that were sent but not produced yet.
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queue_.size(); }
  // Body bytes waiting only because the peer's window of this stream is used up. A peer that stops
  // reading: true for a long time, with the same produced_bytes(). The connection's own window is
  // Connection::send_window_is_closed().
  [[nodiscard]] bool waits_for_window() const noexcept {
    return !queue_.empty() && send_window_.available() == 0;
  }
  // Body bytes that were produced so far.
  [[nodiscard]] std::uint64_t produced_bytes() const noexcept { return produced_bytes_; }
  // The request is an extended CONNECT (RFC 8441).
  [[nodiscard]] bool is_upgrade() const noexcept { return !upgrade_.empty(); }
  [[nodiscard]] Priority priority() const noexcept { return priority_; }

 protected:
  ~Stream() = default;

 private:
  friend class Connection;
  friend class StreamTable;
  friend class Scheduler;

  std::uint32_t id_ = 0;
  State state_ = State::idle;
  Priority priority_;
  http::Method method_ = http::Method::get;  // Of the request; client role.
  bool head_received_ = false;               // The final head; what follows are trailers.
  bool head_sent_ = false;
  bool end_queued_ = false;  // send_end() was called, or the head said that there is no body.
  bool over_high_ = false;   // queued_bytes() went over kQueueHigh.
  bool discards_ = false;    // What the peer still sends is dropped.
  std::optional<std::uint64_t> declared_bytes_;  // content-length of what the peer sends.
  std::uint64_t received_bytes_ = 0;
  std::uint64_t produced_bytes_ = 0;
  SendWindow send_window_{0};
  ReceiveWindow receive_window_{0, 0};
  std::optional<std::chrono::steady_clock::time_point> window_given_at_;
  bool window_held_ = false;  // Some of it waited for the owner since then.
  FieldBlock head_;           // Texts of the head that was received.
  FieldBlock trailers_;       // To be sent behind what is queued.
  std::string upgrade_;       // :protocol of an extended CONNECT.
  ChunkQueue queue_;          // Body bytes to send.
};

}  // namespace titanium::http2
