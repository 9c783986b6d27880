// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/timer.h"

namespace titanium::net {

// A hierarchical timer wheel that is told the time and does no I/O.
//
// Each level has 64 slots; a slot of level n spans 64^n ticks. A timer lies in the slot in which
// its time lies, on the lowest level that reaches so far. When the beginning of a slot has come,
// the wheel looks at each timer of it: one that is due fires, one that was disarmed is dropped, and
// the others go into a nearer slot. Moving down a level and having been pushed out by a later arm()
// are the same case, which is why the latter needs no work when it happens.
class TimerWheel {
 public:
  // 2^23 ns, about 8.4 ms: a power of two makes a tick from a time with one shift.
  static constexpr unsigned kTickShift = 23;
  static constexpr std::chrono::nanoseconds kTick{std::int64_t{1} << kTickShift};

  explicit TimerWheel(TimePoint now) noexcept : now_(now), current_(floor_tick(now)) {}

  [[nodiscard]] TimePoint now() const noexcept { return now_; }
  // Time only moves forward; an earlier time is ignored. Fires nothing.
  void set_now(TimePoint now) noexcept { now_ = now > now_ ? now : now_; }

  // Fires what is due at now(), never a timer whose time has not come. Not to be called by a
  // TimerHandler.
  void fire_due();

  // When fire_due() has something to do next; nullopt: no timer is left. It may turn out then that
  // the timers of that slot were disarmed or pushed out. Looks at four words.
  [[nodiscard]] std::optional<TimePoint> next_look() noexcept;

 private:
  friend class Timer;
  static constexpr unsigned kLevels = 4;  // 64^4 ticks: 39 hours; later timers are looked at then.
  static constexpr unsigned kSlotBits = 6;
  static constexpr std::uint64_t kSlots = std::uint64_t{1} << kSlotBits;

  struct Level {
    std::array<IntrusiveList<Timer>, kSlots> slots;
    // A set bit: the slot may hold timers. Destroying a timer does not clear it; the next look
    // does.
    std::uint64_t occupied = 0;
  };

  static std::uint64_t floor_tick(TimePoint time) noexcept {
    return static_cast<std::uint64_t>(time.time_since_epoch().count()) >> kTickShift;
  }
  static std::uint64_t ceil_tick(TimePoint time) noexcept {
    return floor_tick(time + kTick - std::chrono::nanoseconds(1));
  }
  static TimePoint time_of(std::uint64_t tick) noexcept {
    return TimePoint(std::chrono::nanoseconds(static_cast<std::int64_t>(tick << kTickShift)));
  }

  void insert(Timer& timer) noexcept;
  void collect() noexcept;
  void visit_due();
  [[nodiscard]] std::optional<std::uint64_t> next_tick() noexcept;

  TimePoint now_;
  std::uint64_t current_;  // All slots that begin up to this tick have been looked at.
  std::array<Level, kLevels> levels_;
  IntrusiveList<Timer> due_;  // Timers of the slots that are being looked at.
};

}  // namespace titanium::net
