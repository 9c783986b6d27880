// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

#include "base/intrusive_list.h"

namespace titanium::net {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::milliseconds;

class EventLoop;
class TimerHandler;
class TimerWheel;

// A one-shot timer that lives inside its owner. Re-arming to a later time costs one store: the
// wheel looks at it again when the earlier time has come.
class Timer : private ListLink<Timer> {
 public:
  // Longer times are cut to this, so that a time-out of "never" cannot overflow the clock.
  static constexpr Duration kLongest = std::chrono::days(365);

  Timer(EventLoop& loop, TimerHandler& handler) noexcept;
  Timer(TimerWheel& wheel, TimerHandler& handler) noexcept : wheel_(wheel), handler_(handler) {}
  ~Timer() = default;  // Destroying an armed timer disarms it.

  // Fires once, `after` from the loop's now(), rounded up to the wheel's tick. Replaces the former
  // time if armed.
  void arm(Duration after);
  // One store: the wheel drops the timer when it comes across it.
  void disarm() noexcept { deadline_ = TimePoint::max(); }
  [[nodiscard]] bool is_armed() const noexcept { return deadline_ != TimePoint::max(); }

 private:
  friend class TimerWheel;
  friend class IntrusiveList<Timer, Timer>;

  TimerWheel& wheel_;
  TimerHandler& handler_;
  TimePoint deadline_ = TimePoint::max();  // When to fire; max: disarmed.
  std::uint64_t slot_tick_ = 0;            // When the wheel looks at it next, if it is linked.
};
static_assert(sizeof(Timer) <= 64);  // Every connection carries several.

class TimerHandler {
 public:
  // The timer is disarmed already and may be armed again here. This and any other timer may also be
  // destroyed here.
  virtual void on_timer(Timer& timer) = 0;

 protected:
  ~TimerHandler() = default;
};

}  // namespace titanium::net
