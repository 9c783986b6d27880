// SPDX-License-Identifier: MIT
#include "net/timer_wheel.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace titanium::net {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr TimePoint kStart{hours(1000)};

struct Recorder final : TimerHandler {
  void on_timer(Timer& timer) override {
    EXPECT_FALSE(timer.is_armed());
    fired.push_back(&timer);
    if (then) then(timer);
  }
  [[nodiscard]] int count() const { return static_cast<int>(fired.size()); }

  std::vector<Timer*> fired;
  std::function<void(Timer&)> then;
};

void advance_to(TimerWheel& wheel, TimePoint time) {
  wheel.set_now(time);
  wheel.fire_due();
}

// Sleeps exactly as the loop would, and returns how often it woke up.
int wake_until(TimerWheel& wheel, TimePoint end) {
  int wakes = 0;
  for (auto look = wheel.next_look(); look && *look <= end; look = wheel.next_look()) {
    advance_to(wheel, *look);
    ++wakes;
  }
  advance_to(wheel, end);
  return wakes;
}

TEST(TimerWheel, HasNothingToLookAtWithoutTimers) {
  TimerWheel wheel(kStart);
  EXPECT_EQ(wheel.next_look(), std::nullopt);
  advance_to(wheel, kStart + hours(24 * 365));
  EXPECT_EQ(wheel.next_look(), std::nullopt);
}

TEST(TimerWheel, FiresWithinOneTickAndNeverEarly) {
  const Duration cases[] = {
      Duration(0),   Duration(1),   Duration(8), Duration(9),    Duration(500),   Duration(536),
      Duration(537), Duration(545), seconds(1),  seconds(34),    seconds(35),     minutes(36),
      minutes(37),   hours(38),     hours(40),   hours(24 * 30), Timer::kLongest,
  };
  // Starts that lie differently on the slots of all levels.
  const std::chrono::nanoseconds offsets[] = {
      std::chrono::nanoseconds(0),      std::chrono::nanoseconds(1),
      TimerWheel::kTick * 63,           TimerWheel::kTick * 64 - std::chrono::nanoseconds(1),
      TimerWheel::kTick * 64 * 64 * 63,
  };
  for (const auto offset : offsets) {
    for (const Duration after : cases) {
      SCOPED_TRACE(::testing::Message() << after.count() << " ms, offset " << offset.count());
      TimerWheel wheel(kStart + offset);
      Recorder recorder;
      Timer timer(wheel, recorder);
      timer.arm(after);
      const TimePoint deadline = kStart + offset + after;
      while (recorder.count() == 0) {
        const auto look = wheel.next_look();
        ASSERT_TRUE(look.has_value());
        ASSERT_GT(*look, wheel.now());
        ASSERT_LE(*look, deadline + TimerWheel::kTick);
        advance_to(wheel, *look);
      }
      EXPECT_GE(wheel.now(), deadline);
      EXPECT_EQ(wheel.next_look(), std::nullopt);
    }
  }
}

TEST(TimerWheel, CutsEndlessTimesAndTakesNegativeOnesAsNow) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer endless(wheel, recorder);
  Timer negative(wheel, recorder);
  endless.arm(Duration::max());
  negative.arm(Duration::min());
  advance_to(wheel, kStart + TimerWheel::kTick);
  EXPECT_EQ(recorder.fired, std::vector{&negative});
  EXPECT_TRUE(endless.is_armed());
}

TEST(TimerWheel, DoesNotFireADisarmedTimer) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer timer(wheel, recorder);
  timer.arm(Duration(100));
  timer.disarm();
  EXPECT_FALSE(timer.is_armed());
  advance_to(wheel, kStart + seconds(1));
  EXPECT_EQ(recorder.count(), 0);
  EXPECT_EQ(wheel.next_look(), std::nullopt) << "dropped when it was come across";
}

TEST(TimerWheel, ForgetsADestroyedTimer) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  {
    Timer timer(wheel, recorder);
    timer.arm(Duration(100));
  }
  EXPECT_EQ(wheel.next_look(), std::nullopt);
  advance_to(wheel, kStart + seconds(1));
  EXPECT_EQ(recorder.count(), 0);
}

TEST(TimerWheel, FiresEarlierWhenArmedAgainForEarlier) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer timer(wheel, recorder);
  timer.arm(minutes(10));
  timer.arm(Duration(20));
  advance_to(wheel, kStart + Duration(40));
  EXPECT_EQ(recorder.count(), 1);
}

TEST(TimerWheel, DoesNotWakeUpForEachPushOut) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer idle(wheel, recorder);
  // A busy connection pushes its idle time-out of 60 s every 10 ms for ten minutes.
  int wakes = 0;
  for (int i = 0; i < 60'000; ++i) {
    idle.arm(seconds(60));
    wakes += wake_until(wheel, wheel.now() + Duration(10));
  }
  EXPECT_EQ(recorder.count(), 0);
  // About one look per level and time-out, not one per tick.
  EXPECT_LE(wakes, 40);
  wake_until(wheel, wheel.now() + seconds(61));
  EXPECT_EQ(recorder.count(), 1);
}

TEST(TimerWheel, MayBeArmedAgainByItsHandler) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer timer(wheel, recorder);
  recorder.then = [](Timer& fired) { fired.arm(Duration(0)); };
  timer.arm(Duration(0));
  for (int tick = 1; tick <= 100; ++tick) {
    advance_to(wheel, kStart + TimerWheel::kTick * tick);
    EXPECT_EQ(recorder.count(), tick) << "once per tick, whatever it asks for";
  }
  advance_to(wheel, kStart + hours(1));
  EXPECT_EQ(recorder.count(), 101) << "after a long sleep it does not catch up";
}

TEST(TimerWheel, LetsAHandlerDestroyItsOwnAndOtherDueTimers) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 10; ++i) {
    timers.push_back(std::make_unique<Timer>(wheel, recorder));
    timers.back()->arm(Duration(50));
  }
  recorder.then = [&](Timer&) { timers.clear(); };
  advance_to(wheel, kStart + seconds(1));
  EXPECT_EQ(recorder.count(), 1);
  EXPECT_EQ(wheel.next_look(), std::nullopt);
}

TEST(TimerWheel, LetsAHandlerMoveOtherDueTimers) {
  TimerWheel wheel(kStart);
  Recorder recorder;
  Timer first(wheel, recorder);
  Timer disarmed(wheel, recorder);
  Timer later(wheel, recorder);
  for (Timer* timer : {&first, &disarmed, &later}) timer->arm(Duration(50));
  recorder.then = [&](Timer& fired) {
    if (&fired != &first) return;
    disarmed.disarm();
    later.arm(seconds(5));
  };
  advance_to(wheel, kStart + seconds(1));
  EXPECT_EQ(recorder.fired, std::vector{&first});
  advance_to(wheel, kStart + seconds(7));
  EXPECT_EQ(recorder.fired, (std::vector{&first, &later}));
}

TEST(TimerWheel, IgnoresTimeThatGoesBackwards) {
  TimerWheel wheel(kStart);
  wheel.set_now(kStart - hours(1));
  EXPECT_EQ(wheel.now(), kStart);
}

// The model: what is armed, by deadline.
class AgainstModel : public ::testing::TestWithParam<unsigned>, public TimerHandler {
 protected:
  struct Entry {
    std::unique_ptr<Timer> timer;
    std::multimap<TimePoint, Entry*>::iterator place;
    bool armed = false;
  };

  void on_timer(Timer& timer) override {
    const auto entry = by_timer.at(&timer);
    ASSERT_TRUE(entry->armed) << "fired without being armed";
    ASSERT_LE(entry->place->first, wheel.now()) << "fired early";
    forget(*entry);
    ++fired;
    if (random() % 4 == 0) arm(*entry);
    if (random() % 16 == 0) recreate(entries[random() % entries.size()]);
  }

  void forget(Entry& entry) {
    if (entry.armed) model.erase(entry.place);
    entry.armed = false;
  }
  void arm(Entry& entry) {
    forget(entry);
    const Duration after = random_duration();
    entry.timer->arm(after);
    entry.place = model.emplace(wheel.now() + after, &entry);
    entry.armed = true;
  }
  void disarm(Entry& entry) {
    forget(entry);
    entry.timer->disarm();
  }
  void recreate(Entry& entry) {
    forget(entry);
    by_timer.erase(entry.timer.get());
    entry.timer = std::make_unique<Timer>(wheel, *this);
    by_timer[entry.timer.get()] = &entry;
  }
  // Mostly near, sometimes on each of the far levels.
  Duration random_duration() {
    const auto bits = random() % 28;
    return Duration(random() % (std::uint64_t{1} << bits));
  }
  void check() {
    for (const auto& [deadline, entry] : model) {
      ASSERT_TRUE(entry->timer->is_armed());
      ASSERT_GT(deadline + TimerWheel::kTick, wheel.now()) << "should have fired";
      break;  // The earliest is enough.
    }
    if (model.empty()) return;
    const auto look = wheel.next_look();
    ASSERT_TRUE(look.has_value());
    ASSERT_LE(*look, model.begin()->first + TimerWheel::kTick) << "the loop would oversleep";
  }

  std::mt19937 random{GetParam()};
  TimerWheel wheel{kStart + std::chrono::nanoseconds(random())};
  std::multimap<TimePoint, Entry*> model;
  std::map<Timer*, Entry*> by_timer;
  std::vector<Entry> entries = std::vector<Entry>(300);
  int fired = 0;
};

TEST_P(AgainstModel, FiresTheSameTimers) {
  for (Entry& entry : entries) recreate(entry);
  for (int step = 0; step < 20'000; ++step) {
    Entry& entry = entries[random() % entries.size()];
    switch (random() % 8) {
      case 0:
        disarm(entry);
        break;
      case 1:
        recreate(entry);
        break;
      case 2:
        advance_to(wheel, wheel.now() + random_duration());
        break;
      case 3:
        if (const auto look = wheel.next_look()) advance_to(wheel, *look);
        break;
      default:
        arm(entry);
    }
    ASSERT_NO_FATAL_FAILURE(check()) << "step " << step;
  }
  EXPECT_GT(fired, 1000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstModel, ::testing::Values(1U, 2U, 3U, 4U));

}  // namespace
}  // namespace titanium::net
