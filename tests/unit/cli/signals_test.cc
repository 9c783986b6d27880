// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace titanium::cli {
namespace {

[[nodiscard]] sigset_t mask_of_this_thread() {
  sigset_t now{};
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return now;
}

// Signals go to this thread only, which has them blocked while there is a waiter: none can reach a
// handler, and the waiter's descriptor reads what is pending for the thread that waits.
class SignalWaiterTest : public testing::Test {
 protected:
  ~SignalWaiterTest() override {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    std::signal(SIGPIPE, pipe_before_);
  }
  static void raise_here(int signal) { ASSERT_EQ(pthread_kill(pthread_self(), signal), 0); }
  SignalWaiter& waiter() { return waiter_; }

 private:
  sigset_t before_ = mask_of_this_thread();
  void (*pipe_before_)(int) = std::signal(SIGPIPE, SIG_DFL);
  SignalWaiter waiter_;
};

TEST_F(SignalWaiterTest, TellsTheSignalsApart) {
  raise_here(SIGTERM);
  EXPECT_EQ(waiter().wait(), Wakeup::stop);
  raise_here(SIGINT);
  EXPECT_EQ(waiter().wait(), Wakeup::interrupt);
  raise_here(SIGHUP);
  EXPECT_EQ(waiter().wait(), Wakeup::reload);
  EXPECT_TRUE(is_stop(Wakeup::stop));
  EXPECT_TRUE(is_stop(Wakeup::interrupt));
  EXPECT_FALSE(is_stop(Wakeup::reload));
  EXPECT_FALSE(is_stop(Wakeup::finished));
}

TEST_F(SignalWaiterTest, LosesNoneOfTwoThatArePending) {
  raise_here(SIGHUP);
  raise_here(SIGTERM);
  // Which one comes first is the kernel's choice.
  const Wakeup first = waiter().wait();
  const Wakeup second = waiter().wait();
  EXPECT_NE(first, second);
  EXPECT_TRUE(is_stop(first) || is_stop(second));
}

TEST_F(SignalWaiterTest, EndsWhenAnotherThreadSaysSo) {
  std::thread other([this] { waiter().finish(); });
  EXPECT_EQ(waiter().wait(), Wakeup::finished);
  other.join();
}

TEST_F(SignalWaiterTest, StaysFinishedWhateverSignalComes) {
  waiter().finish();
  waiter().finish();
  raise_here(SIGTERM);
  EXPECT_EQ(waiter().wait(), Wakeup::finished);
  EXPECT_EQ(waiter().wait(), Wakeup::finished);
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  int taken = 0;
  EXPECT_EQ(sigwait(&terminate, &taken), 0);  // Else it would end the test program.
}

TEST_F(SignalWaiterTest, LetsTheProgramSurviveABrokenPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  ::close(ends[1]);
}

TEST_F(SignalWaiterTest, BlocksItsSignalsInThreadsThatAreMadeLater) {
  sigset_t there{};
  std::thread other([&] { there = mask_of_this_thread(); });
  other.join();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) EXPECT_EQ(sigismember(&there, signal), 1);
}

TEST(SignalsBlocked, LastsAsLongAsTheObject) {
  const auto is_blocked = [] {
    const sigset_t now = mask_of_this_thread();
    return sigismember(&now, SIGUSR1) == 1;
  };
  ASSERT_FALSE(is_blocked());
  {
    const SignalsBlocked blocked;
    EXPECT_TRUE(is_blocked());
  }
  EXPECT_FALSE(is_blocked());
}

}  // namespace
}  // namespace titanium::cli
