// SPDX-License-Identifier: MIT
//
// One loop per worker thread: readiness of descriptors, timers, end-of-turn work, messages from
// other threads. Everything but post() and stop() belongs to the thread that calls run().
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>

#include "base/intrusive_list.h"
#include "net/timer.h"

namespace titanium::net {

// What became possible on a descriptor. Edge-triggered: reported once per change, so a handler
// reads until a short read and writes until EAGAIN.
struct Readiness {
  bool readable = false;  // Bytes, a connection to accept, or the end of the stream.
  bool writable = false;
  bool peer_closed = false;  // The peer sent FIN: after the bytes that are there, read returns 0.
  bool failed = false;       // RST or another error: read or write tells which.
};

class IoHandler {
 public:
  virtual void on_ready(Readiness ready) = 0;

 protected:
  ~IoHandler() = default;
};

// Work for the end of the current turn: flushing what became writable, destroying what is finished.
class Deferred : private ListLink<Deferred> {
 public:
  [[nodiscard]] bool is_deferred() const noexcept { return is_linked(); }

 protected:
  ~Deferred() = default;  // Takes it off the list.

 private:
  friend class EventLoop;
  friend class IntrusiveList<Deferred, Deferred>;
  virtual void on_turn_end() = 0;
};

class EventLoop {
 public:
  EventLoop();  // Terminates the process if the kernel gives no epoll descriptor.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs turns until stop(). A turn: wait, report readiness, fire timers, run posted messages, then
  // the deferred work (deferring during that phase runs in the same phase, flush before destroy).
  void run();
  // One turn that waits at most `wait`; for tests and for embedding.
  void run_once(Duration wait);
  // From any thread or signal handler: run() returns at the end of the current turn.
  void stop() noexcept;

  // From any thread: `message` runs on the loop's thread. Messages still queued when the loop is
  // destroyed are destroyed unrun.
  void post(std::move_only_function<void()> message);

  // Steady time of this turn, read once per turn.
  [[nodiscard]] TimePoint now() const noexcept { return now_; }
  // Wall-clock seconds of this turn.
  [[nodiscard]] std::time_t wall_seconds() const noexcept { return wall_seconds_; }

  [[nodiscard]] TimerWheel& timers() noexcept;

  // Watches a descriptor for everything (read, write, peer closed), edge-triggered, until it is
  // removed or closed. `handler` outlives that. Errors: terminates on impossible ones; false when
  // the kernel's limit of watches is reached.
  [[nodiscard]] bool watch(int fd, IoHandler& handler);
  // One handler watches one descriptor. Events of this turn that were collected before are not
  // delivered after this call.
  void unwatch(int fd, IoHandler& handler) noexcept;
  // The same without a system call, for a descriptor that is closed before the next turn: the
  // kernel forgets a closed descriptor by itself.
  void forget(IoHandler& handler) noexcept;

  // Runs work.on_turn_end() once at the end of this turn; again is no change.
  void defer(Deferred& work) noexcept;
  // Runs work.on_turn_end() at the end of the next turn, which does not wait then. For work that is
  // cut into pieces so that the connections get their turn in between. No change if it is deferred.
  void defer_to_next_turn(Deferred& work) noexcept;

  // Destroys `object` after all deferred work of this turn. The way to end an object from within
  // its own callbacks.
  template <typename T>
  void destroy_later(std::unique_ptr<T> object) {
    add_doomed(object.release(), [](void* raw) noexcept { delete static_cast<T*>(raw); });
  }

 private:
  struct Impl;
  using Destroy = void (*)(void*) noexcept;
  void add_doomed(void* object, Destroy destroy);
  void run_turn(Duration wait);

  TimePoint now_;
  std::time_t wall_seconds_ = 0;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::net
