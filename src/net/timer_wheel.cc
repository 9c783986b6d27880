// SPDX-License-Identifier: MIT
#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace titanium::net {

void Timer::arm(Duration after) {
  deadline_ = wheel_.now() + std::clamp(after, Duration::zero(), kLongest);
  if (is_linked() && slot_tick_ <= TimerWheel::ceil_tick(deadline_)) return;
  unlink();
  wheel_.insert(*this);
}

void TimerWheel::insert(Timer& timer) noexcept {
  const std::uint64_t tick = std::max(ceil_tick(timer.deadline_), current_ + 1);
  unsigned level = 0;
  unsigned shift = 0;
  while (level < kLevels - 1 && (tick >> shift) - (current_ >> shift) >= kSlots) {
    ++level;
    shift += kSlotBits;
  }
  const std::uint64_t distance = std::min((tick >> shift) - (current_ >> shift), kSlots - 1);
  const std::uint64_t position = (current_ >> shift) + distance;
  timer.slot_tick_ = position << shift;
  levels_[level].slots[position % kSlots].push_back(timer);
  levels_[level].occupied |= std::uint64_t{1} << (position % kSlots);
}

// First everything that has to be looked at is gathered, then visited: what a handler arms goes
// into a slot of the future, so no timer is visited twice, and none can keep the loop busy.
void TimerWheel::fire_due() {
  const std::uint64_t now_tick = floor_tick(now_);
  for (auto next = next_tick(); next && *next <= now_tick; next = next_tick()) {
    current_ = *next;
    collect();
  }
  current_ = now_tick;
  visit_due();
}

// Takes the timers out of all slots that begin at the current tick.
void TimerWheel::collect() noexcept {
  for (unsigned level = 0; level < kLevels; ++level) {
    const unsigned shift = level * kSlotBits;
    if ((current_ >> shift) << shift != current_) return;
    const std::uint64_t slot = (current_ >> shift) % kSlots;
    levels_[level].occupied &= ~(std::uint64_t{1} << slot);
    due_.splice_back(levels_[level].slots[slot]);
  }
}

// One timer at a time is taken off the list, because handlers may destroy and re-arm any of them.
void TimerWheel::visit_due() {
  while (Timer* timer = due_.pop_front()) {
    if (!timer->is_armed()) continue;
    if (timer->deadline_ > now_) {
      insert(*timer);
      continue;
    }
    timer->disarm();
    timer->handler_.on_timer(*timer);
  }
}

std::optional<std::uint64_t> TimerWheel::next_tick() noexcept {
  std::optional<std::uint64_t> earliest;
  for (unsigned level = 0; level < kLevels; ++level) {
    const unsigned shift = level * kSlotBits;
    // The slot of the current tick is empty, so the search begins with the one after it.
    const std::uint64_t first = (current_ >> shift) + 1;
    std::uint64_t& occupied = levels_[level].occupied;
    while (occupied != 0) {
      const int turn = static_cast<int>(first % kSlots);
      const std::uint64_t position =
          first + static_cast<unsigned>(std::countr_zero(std::rotr(occupied, turn)));
      if (levels_[level].slots[position % kSlots].empty()) {
        occupied &= ~(std::uint64_t{1} << (position % kSlots));
        continue;
      }
      const std::uint64_t tick = position << shift;
      earliest = earliest ? std::min(*earliest, tick) : tick;
      break;
    }
  }
  return earliest;
}

std::optional<TimePoint> TimerWheel::next_look() noexcept {
  const auto tick = next_tick();
  return tick ? std::optional(time_of(*tick)) : std::nullopt;
}

}  // namespace titanium::net
