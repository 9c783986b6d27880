// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "net/event_loop.h"
#include "net/file_descriptor.h"

namespace titanium::probe {

class AlarmHandler {
 public:
  virtual void on_alarm() = 0;

 protected:
  ~AlarmHandler() = default;
};

// Alarms on a loop to the precision of the kernel's clock. The loop's own timers tick every 8 ms,
// which is right for time-outs; but a consumer that pauses for 8 ms, a network that delays by 5 ms
// and a request that is due every 50 µs would be falsified by it.
class AlarmClock final : private net::IoHandler {
 public:
  explicit AlarmClock(net::EventLoop& loop);
  ~AlarmClock();

  // Calls handler.on_alarm() once, not before `due`, from the loop. Replaces the former alarm of
  // this handler. O(alarms): there are as many as connections at most.
  void set(AlarmHandler& handler, net::TimePoint due);
  // Before a handler with an alarm dies.
  void cancel(AlarmHandler& handler) noexcept;

 private:
  struct Entry {
    net::TimePoint due;
    AlarmHandler* handler;
  };
  // For the heap functions of the library, which keep the largest in front.
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const noexcept { return a.due > b.due; }
  };

  void on_ready(net::Readiness ready) override;
  void arm_for_first() noexcept;

  net::EventLoop& loop_;
  net::FileDescriptor timer_;
  std::vector<Entry> heap_;
  bool firing_ = false;
};

}  // namespace titanium::probe
