// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/chunk.h"
#include "base/error.h"
#include "http2/connection.h"
#include "net/bound.h"
#include "net/transport.h"
#include "proxy/input_buffer.h"

namespace titanium::proxy {

class Worker;

// Moves the bytes of one HTTP/2 connection between its transport and its codec, on either leg:
// reads within the budget of a turn, writes once at the turn's end, watches the codec's deadlines,
// and closes in a way that lets the peer read our GOAWAY.
class Http2Link final : private net::TransportHandler {
 public:
  class Owner {
   public:
    // The connection can not be used any more: streams that are left have failed with `error`.
    // What is queued (GOAWAY) still goes out; on_link_closed() follows.
    virtual void on_link_failed(const Error& error) = 0;
    // Everything is over: the owner ends the link, through EventLoop::destroy_later().
    virtual void on_link_closed() = 0;
    // Input was taken, or output has left: something may have changed.
    virtual void on_link_progress() = 0;

   protected:
    ~Owner() = default;
  };

  // `received`: bytes that were read already. The preface and SETTINGS are queued.
  Http2Link(Worker& worker, std::unique_ptr<net::Transport> transport, InputBuffer received,
            http2::Role role, http2::ConnectionHandler& handler, Owner& owner, Side peer);
  ~Http2Link();

  void start();

  [[nodiscard]] http2::Connection& connection() noexcept { return connection_; }
  [[nodiscard]] net::Transport& transport() noexcept { return *transport_; }

  // Writes what the codec has to say at the end of this turn.
  void schedule();
  // No more input is taken; the connection ends when everything queued is out.
  void close();
  [[nodiscard]] bool is_closing() const noexcept { return phase_ != Phase::open; }
  // Bytes that the codec gave up but the peer's kernel has not taken.
  [[nodiscard]] std::size_t backlog() const noexcept;
  // Those that the transport has taken so far.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }
  // Tells the operator that the peer, `who`, broke the rules, and what it had sent by then. Rate
  // limited, so that a flood of connections is no flood of lines.
  void log_fault(const Error& error, std::string_view who);
  // From now on nobody is told anything.
  void disown() noexcept { owner_ = nullptr; }

 private:
  enum class Phase : std::uint8_t { open, flushing, lingering, closed };

  void on_readable() override;
  void on_writable() override;
  void on_turn_end();
  void on_next_turn();
  void on_deadline();
  void on_stalled();

  void read();
  void flush();
  void fail(const Error& error);
  void lose(const Error& error);
  void watch_progress();
  void finish_close();
  void end();
  void watch_deadline();

  Worker& worker_;
  std::unique_ptr<net::Transport> transport_;
  Owner* owner_;
  Side peer_;
  InputBuffer input_;
  ChunkQueue output_;
  http2::Connection connection_;
  Phase phase_ = Phase::open;
  bool input_ended_ = false;
  bool more_to_produce_ = false;
  std::size_t discarded_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t stalled_at_ = 0;  // Those that had left when progress was last looked at.
  std::optional<net::TimePoint> deadline_at_;
  net::MemberDeferred<Http2Link, &Http2Link::on_turn_end> turn_end_{*this};
  net::MemberDeferred<Http2Link, &Http2Link::on_next_turn> next_turn_{*this};
  net::MemberTimer<Http2Link, &Http2Link::on_deadline> deadline_;
  // A write that makes no progress; after close(), how long to read on.
  net::MemberTimer<Http2Link, &Http2Link::on_stalled> stall_;
};

}  // namespace titanium::proxy
