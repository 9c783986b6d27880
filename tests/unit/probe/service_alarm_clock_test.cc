// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "service/alarm_clock.h"

namespace titanium::probe {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class Handler final : public AlarmHandler {
 public:
  explicit Handler(std::function<void()> work) : work_(std::move(work)) {}
  void on_alarm() override { work_(); }

 private:
  std::function<void()> work_;
};

class AlarmClockTest : public ::testing::Test {
 protected:
  // Runs turns until `count` alarms rang; gives up after ten seconds.
  void run_until_rung(std::size_t count) {
    const net::TimePoint end = net::Clock::now() + std::chrono::seconds(10);
    while (rung.size() < count && net::Clock::now() < end) loop.run_once(milliseconds(20));
  }
  net::EventLoop loop;
  AlarmClock alarms{loop};
  std::string rung;
  Handler a{[this] { rung += 'a'; }};
  Handler b{[this] { rung += 'b'; }};
  Handler c{[this] { rung += 'c'; }};
  net::TimePoint now = net::Clock::now();
};

TEST_F(AlarmClockTest, RingsInTheOrderOfTime) {
  alarms.set(a, now + milliseconds(3));
  alarms.set(b, now + milliseconds(1));
  alarms.set(c, now + milliseconds(2));
  run_until_rung(3);
  EXPECT_EQ(rung, "bca");
  EXPECT_GE(net::Clock::now(), now + milliseconds(3));
}

TEST_F(AlarmClockTest, NeverRingsEarly) {
  for (int i = 1; i < 20; ++i) {
    const net::TimePoint due = net::Clock::now() + microseconds(137 * i);
    rung.clear();
    alarms.set(a, due);
    run_until_rung(1);
    EXPECT_GE(net::Clock::now(), due);
  }
}

TEST_F(AlarmClockTest, RingsAtOnceWhatIsDueAlready) {
  alarms.set(a, now - milliseconds(5));
  run_until_rung(1);
  EXPECT_EQ(rung, "a");
}

TEST_F(AlarmClockTest, SettingAgainReplaces) {
  alarms.set(a, now + std::chrono::hours(1));
  alarms.set(a, now + milliseconds(1));
  alarms.set(b, now + milliseconds(2));
  run_until_rung(2);
  EXPECT_EQ(rung, "ab");
}

TEST_F(AlarmClockTest, ACancelledAlarmDoesNotRing) {
  alarms.set(a, now + milliseconds(1));
  alarms.set(b, now + milliseconds(2));
  alarms.cancel(a);
  alarms.cancel(c);  // Has none.
  run_until_rung(1);
  EXPECT_EQ(rung, "b");
}

TEST_F(AlarmClockTest, MayBeSetAndCancelledWhileItRings) {
  int left = 3;
  Handler again([&] {
    rung += 'x';
    if (--left > 0) alarms.set(again, net::Clock::now() + microseconds(100));
    alarms.cancel(a);
  });
  alarms.set(again, now + milliseconds(1));
  alarms.set(a, now + milliseconds(1) + microseconds(1));
  alarms.set(b, now + milliseconds(100));
  run_until_rung(4);
  EXPECT_EQ(rung, "xxxb");
}

}  // namespace
}  // namespace titanium::probe
