// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include "run/process_tree.h"

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;

// Of this process, user and system.
[[nodiscard]] double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void burn(double seconds) {
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
  }
}

// A child that does `work` and waits to be killed. The destructor does that.
class Forked {
 public:
  explicit Forked(const std::function<void()>& work) {
    if (pipe(done_) != 0) std::abort();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    (void)!write(done_[1], "x", 1);
    for (;;) pause();
  }
  ~Forked() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(done_[0]);
    close(done_[1]);
  }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void wait_until_done() {
    char byte = 0;
    ASSERT_EQ(read(done_[0], &byte, 1), 1);
  }

 private:
  int done_[2] = {};
  pid_t pid_ = 0;
};

constexpr double kBurn = 0.3;
constexpr double kTicks = 0.05;  // The kernel counts in hundredths; children are several processes.

TEST(ProcessTree, HasTheRootFirstAndAllBelowIt) {
  Forked child([] {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  });
  child.wait_until_done();
  const std::vector<pid_t> tree = process_tree(getpid());
  ASSERT_GE(tree.size(), 3U);
  EXPECT_EQ(tree.front(), getpid());
  EXPECT_THAT(tree, testing::Contains(child.pid()));
  EXPECT_EQ(process_tree(child.pid()).size(), 2U);
}

TEST(ProcessTreeSampler, CountsWhatAChildBurns) {
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  Forked child([&] {
    char byte = 0;
    (void)!read(start[0], &byte, 1);
    burn(kBurn);
  });
  ProcessTreeSampler sampler(child.pid(), milliseconds(10));
  ASSERT_EQ(write(start[1], "x", 1), 1);
  child.wait_until_done();
  const TreeUsage usage = sampler.finish();
  EXPECT_NEAR((usage.user + usage.system).count(), kBurn, kTicks);
  EXPECT_GE(usage.window.count(), kBurn);
  EXPECT_GT(usage.cpu_percent(), 0);
  EXPECT_GT(usage.rss_peak_bytes, 100'000U);
  close(start[0]);
  close(start[1]);
}

TEST(ProcessTreeSampler, CountsNothingOfBefore) {
  Forked child([] { burn(kBurn); });
  child.wait_until_done();
  ProcessTreeSampler sampler(child.pid(), milliseconds(10));
  std::this_thread::sleep_for(milliseconds(30));
  const TreeUsage usage = sampler.finish();
  EXPECT_LE((usage.user + usage.system).count(), 0.02);
}

TEST(ProcessTreeSampler, IncludesGrandchildrenThatComeAndGo) {
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  Forked child([&] {
    char byte = 0;
    (void)!read(start[0], &byte, 1);
    for (int i = 0; i < 3; ++i) {
      const pid_t grandchild = fork();
      if (grandchild == 0) {
        burn(kBurn / 3);
        _exit(0);
      }
      waitpid(grandchild, nullptr, 0);
    }
  });
  ProcessTreeSampler sampler(child.pid(), milliseconds(10));
  ASSERT_EQ(write(start[1], "x", 1), 1);
  child.wait_until_done();
  const TreeUsage usage = sampler.finish();
  const double used = (usage.user + usage.system).count();
  EXPECT_GE(used, kBurn - kTicks);
  EXPECT_LE(used, 3 * kBurn);  // Forking a program with sanitizers takes long, too.
  close(start[0]);
  close(start[1]);
}

TEST(ProcessTreeSampler, SeesThePeakOfMemory) {
  constexpr std::size_t kBytes = 64 * 1024 * 1024;
  Forked child([] {
    void* memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, kBytes);
    std::this_thread::sleep_for(milliseconds(200));
    munmap(memory, kBytes);
  });
  ProcessTreeSampler sampler(child.pid(), milliseconds(10));
  child.wait_until_done();
  EXPECT_GT(sampler.finish().rss_peak_bytes, kBytes);
}

TEST(ProcessTreeSampler, CountsWhenAProcessWaited) {
  int start[2];
  ASSERT_EQ(pipe(start), 0);
  constexpr int kTimes = 50;
  Forked child([&] {
    char byte = 0;
    (void)!read(start[0], &byte, 1);
    for (int i = 0; i < kTimes; ++i) std::this_thread::sleep_for(milliseconds(1));
  });
  ProcessTreeSampler sampler(child.pid(), milliseconds(10));
  ASSERT_EQ(write(start[1], "x", 1), 1);
  child.wait_until_done();
  const std::uint64_t switches = sampler.finish().voluntary_switches;
  EXPECT_GE(switches, static_cast<std::uint64_t>(kTimes));
  EXPECT_LE(switches, static_cast<std::uint64_t>(kTimes) + 20);
  close(start[0]);
  close(start[1]);
}

TEST(ProcessTreeSampler, OfAProcessThatHasGoneIsZero) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  ProcessTreeSampler sampler(pid, milliseconds(10));
  const TreeUsage usage = sampler.finish();
  EXPECT_EQ((usage.user + usage.system).count(), 0);
  EXPECT_EQ(usage.rss_peak_bytes, 0U);
}

}  // namespace
}  // namespace titanium::probe
