// SPDX-License-Identifier: MIT
//
// Timers and end-of-turn work that call a member function of their owner, so that a class needs
// neither another base class nor a std::function for each of them.
#pragma once

#include "net/event_loop.h"

namespace titanium::net {

// A timer that is a member of `Owner` and calls `(owner.*Method)()` when it fires.
template <typename Owner, void (Owner::*Method)()>
class MemberTimer final : private TimerHandler {
 public:
  MemberTimer(EventLoop& loop, Owner& owner) noexcept : owner_(owner), timer_(loop, *this) {}

  // A zero duration means "no time-out" in all options: it disarms.
  void arm(Duration after) {
    if (after == Duration::zero()) {
      timer_.disarm();
    } else {
      timer_.arm(after);
    }
  }
  void disarm() noexcept { timer_.disarm(); }
  [[nodiscard]] bool is_armed() const noexcept { return timer_.is_armed(); }

 private:
  void on_timer(Timer& /*timer*/) override { (owner_.*Method)(); }

  Owner& owner_;
  Timer timer_;
};

// End-of-turn work that is a member of `Owner`.
template <typename Owner, void (Owner::*Method)()>
class MemberDeferred final : public Deferred {
 public:
  explicit MemberDeferred(Owner& owner) noexcept : owner_(owner) {}

 private:
  void on_turn_end() override { (owner_.*Method)(); }

  Owner& owner_;
};

}  // namespace titanium::net
