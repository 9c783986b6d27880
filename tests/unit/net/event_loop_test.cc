// SPDX-License-Identifier: MIT
#include "net/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "net/file_descriptor.h"
#include "unit/net/support.h"

namespace titanium::net {
namespace {

using testing::run_idle;
using testing::run_until;
using Log = std::vector<std::string>;

struct Pair {
  Pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
    ours = FileDescriptor(fds[0]);
    theirs = FileDescriptor(fds[1]);
  }
  void send() const { EXPECT_EQ(::write(theirs.get(), "x", 1), 1); }
  FileDescriptor ours;
  FileDescriptor theirs;
};

struct Watcher final : IoHandler {
  void on_ready(Readiness ready) override {
    last = ready;
    ++count;
    if (then) then(ready);
  }
  Readiness last;
  int count = 0;
  std::function<void(Readiness)> then;
};

struct Work final : Deferred {
  void on_turn_end() override {
    ++count;
    if (then) then();
  }
  int count = 0;
  std::function<void()> then;
};

struct OnTimer final : TimerHandler {
  void on_timer(Timer&) override {
    ++count;
    if (then) then();
  }
  int count = 0;
  std::function<void()> then;
};

struct OnDestruction {
  explicit OnDestruction(std::function<void()> what) : then(std::move(what)) {}
  ~OnDestruction() { then(); }
  std::function<void()> then;
};

TEST(EventLoop, RunsThePhasesOfATurnInTheirOrder) {
  EventLoop loop;
  Log log;
  Work work;
  work.then = [&] { log.push_back("deferred"); };
  OnTimer on_timer;
  on_timer.then = [&] { log.push_back("timer"); };
  Timer timer(loop, on_timer);
  Pair pair;
  Watcher watcher;
  watcher.then = [&](Readiness) {
    loop.destroy_later(std::make_unique<OnDestruction>([&] { log.push_back("destroyed"); }));
    loop.defer(work);
    log.push_back("readiness");
  };
  timer.arm(Duration(0));
  std::this_thread::sleep_for(Duration(20));  // Makes the timer due in the turn to come.
  ASSERT_TRUE(loop.watch(pair.ours.get(), watcher));
  loop.post([&] { log.push_back("message"); });
  loop.run_once(Duration(0));
  EXPECT_EQ(log, (Log{"readiness", "timer", "message", "deferred", "destroyed"}));
}

TEST(EventLoop, RunsDeferredWorkOnceATurn) {
  EventLoop loop;
  Work work;
  loop.defer(work);
  loop.defer(work);
  EXPECT_TRUE(work.is_deferred());
  loop.run_once(Duration(0));
  EXPECT_EQ(work.count, 1);
  EXPECT_FALSE(work.is_deferred());
  loop.run_once(Duration(0));
  EXPECT_EQ(work.count, 1);
}

TEST(EventLoop, FlushesAllDeferredWorkBeforeItDestroys) {
  EventLoop loop;
  Log log;
  Work first;
  Work second;
  first.then = [&] {
    log.push_back("first");
    loop.destroy_later(std::make_unique<OnDestruction>([&] { log.push_back("destroyed"); }));
    loop.defer(second);
  };
  second.then = [&] { log.push_back("second"); };
  loop.defer(first);
  loop.run_once(Duration(0));
  EXPECT_EQ(log, (Log{"first", "second", "destroyed"}));
}

TEST(EventLoop, LetsDestructorsDeferAndDestroyMore) {
  EventLoop loop;
  Log log;
  Work work;
  work.then = [&] { log.push_back("work"); };
  loop.destroy_later(std::make_unique<OnDestruction>([&] {
    log.push_back("outer");
    loop.defer(work);
    loop.destroy_later(std::make_unique<OnDestruction>([&] { log.push_back("inner"); }));
  }));
  loop.run_once(Duration(0));
  EXPECT_EQ(log, (Log{"outer", "work", "inner"}));
}

TEST(EventLoop, DropsWorkThatIsDestroyed) {
  EventLoop loop;
  auto gone = std::make_unique<Work>();
  Work stays;
  loop.defer(*gone);
  loop.defer(stays);
  gone.reset();
  loop.run_once(Duration(0));
  EXPECT_EQ(stays.count, 1);
}

TEST(EventLoop, RunsWorkOfTheNextTurnWithoutWaiting) {
  EventLoop loop;
  Work work;
  work.then = [&] {
    if (work.count < 3) loop.defer_to_next_turn(work);
  };
  loop.defer(work);
  const TimePoint before = Clock::now();
  for (int turn = 1; turn <= 3; ++turn) {
    loop.run_once(std::chrono::seconds(5));
    EXPECT_EQ(work.count, turn);
  }
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(4));
}

TEST(EventLoop, DestroysWhatIsLeftWhenItEnds) {
  Log log;
  Pair pair;
  {
    EventLoop loop;
    Watcher watcher;
    ASSERT_TRUE(loop.watch(pair.ours.get(), watcher));
    loop.destroy_later(std::make_unique<OnDestruction>([&] {
      loop.unwatch(pair.ours.get(), watcher);  // The loop must still work.
      log.push_back("doomed");
    }));
    auto guard = std::make_unique<OnDestruction>([&] {
      log.push_back("message destroyed");
      loop.destroy_later(std::make_unique<OnDestruction>([&] { log.push_back("doomed by it"); }));
    });
    loop.post([&log, held = std::move(guard)] { log.push_back("message ran"); });
  }
  EXPECT_EQ(log, (Log{"doomed", "message destroyed", "doomed by it"}));
}

TEST(EventLoop, ReportsAChangeOnce) {
  EventLoop loop;
  Pair pair;
  Watcher watcher;
  ASSERT_TRUE(loop.watch(pair.ours.get(), watcher));
  loop.run_once(Duration(0));
  EXPECT_EQ(watcher.count, 1);
  EXPECT_TRUE(watcher.last.writable);
  EXPECT_FALSE(watcher.last.readable);

  pair.send();
  loop.run_once(Duration(0));
  EXPECT_EQ(watcher.count, 2);
  EXPECT_TRUE(watcher.last.readable);
  run_idle(loop);
  EXPECT_EQ(watcher.count, 2) << "not read, and still not reported again";

  ::shutdown(pair.theirs.get(), SHUT_WR);
  loop.run_once(Duration(0));
  EXPECT_TRUE(watcher.last.peer_closed);
  EXPECT_TRUE(watcher.last.readable);
  EXPECT_FALSE(watcher.last.failed);
}

TEST(EventLoop, DropsCollectedEventsOfWhatIsNoLongerWatched) {
  for (const bool by_unwatch : {true, false}) {
    SCOPED_TRACE(by_unwatch ? "unwatch" : "forget and close");
    EventLoop loop;
    std::array<Pair, 2> pairs;
    std::array<std::unique_ptr<Watcher>, 2> watchers;
    int reported = 0;
    // Whichever is told first destroys the other one, whose event is in the same batch.
    for (const std::size_t i : {0U, 1U}) {
      watchers[i] = std::make_unique<Watcher>();
      watchers[i]->then = [&, other = 1 - i](Readiness) {
        ++reported;
        if (by_unwatch) {
          loop.unwatch(pairs[other].ours.get(), *watchers[other]);
        } else {
          loop.forget(*watchers[other]);
          pairs[other].ours = FileDescriptor();
        }
        watchers[other].reset();
      };
      ASSERT_TRUE(loop.watch(pairs[i].ours.get(), *watchers[i]));
    }
    loop.run_once(Duration(0));
    EXPECT_EQ(reported, 1);
    run_idle(loop);
    EXPECT_EQ(reported, 1);
  }
}

TEST(EventLoop, ReportsMoreDescriptorsThanFitOneBatch) {
  EventLoop loop;
  std::vector<Pair> pairs(300);
  std::vector<Watcher> watchers(300);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_TRUE(loop.watch(pairs[i].ours.get(), watchers[i]));
  }
  ASSERT_TRUE(run_until(loop, [&] {
    return std::ranges::all_of(watchers, [](const Watcher& w) { return w.count == 1; });
  }));
}

TEST(EventLoop, FiresATimerWhenItsTimeHasComeAndNotBefore) {
  EventLoop loop;
  OnTimer on_timer;
  Timer timer(loop, on_timer);
  loop.run_once(Duration(0));
  const TimePoint armed = loop.now();
  timer.arm(Duration(30));
  ASSERT_TRUE(run_until(loop, [&] { return on_timer.count == 1; }));
  EXPECT_GE(loop.now() - armed, Duration(30));
  EXPECT_FALSE(timer.is_armed());
}

TEST(EventLoop, KnowsTheWallClock) {
  EventLoop loop;
  loop.run_once(Duration(0));
  EXPECT_NEAR(static_cast<double>(loop.wall_seconds()), static_cast<double>(std::time(nullptr)), 1);
}

TEST(EventLoop, RunsMessagesOfOtherThreadsInTheirOrder) {
  constexpr int kThreads = 4;
  constexpr int kMessages = 2'000;
  EventLoop loop;
  std::array<int, kThreads> seen{};
  int total = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kMessages; ++i) {
        loop.post([&, t, i] {
          EXPECT_EQ(seen[t]++, i);
          if (++total == kThreads * kMessages) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total, kThreads * kMessages);
}

TEST(EventLoop, WakesUpForAMessageWhileItWaits) {
  EventLoop loop;
  std::atomic<int> rounds = 0;
  // One message after the other, each sent when the loop has dealt with the former one and is about
  // to sleep for ever: a lost wake-up hangs this test.
  std::thread poster([&] {
    for (int i = 0; i < 2'000; ++i) {
      loop.post([&] { ++rounds; });
      while (rounds.load() != i + 1) std::this_thread::yield();
    }
    loop.stop();
  });
  loop.run();
  poster.join();
  EXPECT_EQ(rounds.load(), 2'000);
}

TEST(EventLoop, RunsAMessagePostedByAMessageInTheNextTurn) {
  EventLoop loop;
  int ran = 0;
  loop.post([&] { loop.post([&] { ++ran; }); });
  loop.run_once(Duration(0));
  EXPECT_EQ(ran, 0);
  loop.run_once(std::chrono::seconds(5));
  EXPECT_EQ(ran, 1);
}

TEST(EventLoop, StopsAtTheEndOfTheTurn) {
  EventLoop loop;
  Work work;
  loop.post([&] {
    loop.stop();
    loop.defer(work);
  });
  loop.run();
  EXPECT_EQ(work.count, 1);
  // And may run again.
  loop.post([&] { loop.stop(); });
  loop.run();
}

std::atomic<EventLoop*> signalled_loop = nullptr;

TEST(EventLoop, StopsFromASignalHandler) {
  EventLoop loop;
  signalled_loop = &loop;
  struct sigaction action{};
  action.sa_handler = [](int) { signalled_loop.load()->stop(); };
  struct sigaction former{};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &former), 0);
  std::thread other([main = ::pthread_self()] { ::pthread_kill(main, SIGUSR1); });
  loop.run();
  other.join();
  ::sigaction(SIGUSR1, &former, nullptr);
  signalled_loop = nullptr;
}

}  // namespace
}  // namespace titanium::net
