// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <thread>

#include "run/child_process.h"
#include "run/process_tree.h"
#include "run/scratch.h"

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class ChildProcessTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<ChildProcess> shell(const std::string& script) {
    auto child = ChildProcess::start(
        {.command = {"/bin/sh", "-c", script}, .log_file = folder_->path() / "log"});
    EXPECT_TRUE(child);
    return child ? std::move(*child) : nullptr;
  }

  std::expected<ScratchFolder, std::string> folder_ = ScratchFolder::create();
};

[[nodiscard]] bool is_running(pid_t pid) { return kill(pid, 0) == 0; }

// The state letter of /proc/PID/stat.
[[nodiscard]] char state(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? '?' : text[end + 2];
}

[[nodiscard]] bool becomes(pid_t pid, char wanted) {
  for (int i = 0; i < 1000; ++i) {
    if (state(pid) == wanted) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

// An orphan stays a zombie where no init process reaps it.
[[nodiscard]] bool disappears(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    if (state(pid) == '?' || state(pid) == 'Z') return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

TEST_F(ChildProcessTest, GivesWhatItSaysOnBothStreams) {
  const auto child = shell("echo one; echo two >&2; echo 'ready port=1'; sleep 60");
  EXPECT_EQ(child->wait_for_line("ready ", seconds(10)), "ready port=1");
  EXPECT_EQ(child->output(), "one\ntwo\nready port=1\n");
  EXPECT_EQ(child->output(5), "rt=1\n");
  EXPECT_TRUE(child->is_alive());
}

TEST_F(ChildProcessTest, DoesNotWaitForALineOfOneThatEnded) {
  const auto child = shell("echo nothing; exit 3");
  EXPECT_EQ(child->wait_for_line("ready ", seconds(60)), "");
  EXPECT_FALSE(child->is_alive());
  EXPECT_EQ(child->ending(), "exit code 3");
}

TEST_F(ChildProcessTest, DoesNotTakeHalfALine) {
  const auto child = shell("printf 'ready po'; sleep 60");
  EXPECT_EQ(child->wait_for_line("ready ", milliseconds(100)), "");
}

TEST_F(ChildProcessTest, SaysBySignal) {
  const auto child = shell("kill -9 $$");
  (void)child->wait_for_line("x", seconds(10));
  EXPECT_EQ(child->ending(), "signal 9");
}

TEST_F(ChildProcessTest, SaysWhichProgramCouldNotBeStarted) {
  const auto child =
      ChildProcess::start({.command = {"/no/such/program"}, .log_file = folder_->path() / "log"});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error(), "/no/such/program: No such file or directory");
}

TEST_F(ChildProcessTest, SeesWhatWasAddedToTheEnvironment) {
  setenv("PROBE_TEST", "old", 1);
  auto child = ChildProcess::start({.command = {"/bin/sh", "-c", "echo \"is $PROBE_TEST\""},
                                    .log_file = folder_->path() / "log",
                                    .environment = {{"PROBE_TEST", "new"}}});
  unsetenv("PROBE_TEST");
  ASSERT_TRUE(child);
  EXPECT_EQ((*child)->wait_for_line("is ", seconds(10)), "is new");
}

TEST_F(ChildProcessTest, EndsWithAllItStarted) {
  auto child = shell("sleep 60 & echo \"pid $!\"; wait");
  const std::string line = child->wait_for_line("pid ", seconds(10));
  ASSERT_GT(line.size(), 4U);
  const pid_t grandchild = std::stoi(line.substr(4));
  const pid_t leader = child->pid();
  child.reset();
  EXPECT_FALSE(is_running(leader));
  EXPECT_TRUE(disappears(grandchild));
}

TEST_F(ChildProcessTest, EndsEvenIfFrozen) {
  // exec: a shell that is stopped within vfork() is not seen as stopped.
  auto child = shell("echo 'ready'; exec sleep 60");
  (void)child->wait_for_line("ready", seconds(10));
  child->freeze();
  EXPECT_TRUE(becomes(child->pid(), 'T'));
  const pid_t pid = child->pid();
  const auto begin = std::chrono::steady_clock::now();
  child.reset();
  EXPECT_FALSE(is_running(pid));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(4)) << "it had to be killed";
}

TEST_F(ChildProcessTest, TakesNoCpuWhileFrozenAndGoesOnAfterwards) {
  auto child = shell("echo ready; while :; do :; done");
  (void)child->wait_for_line("ready", seconds(10));
  child->freeze();
  ASSERT_TRUE(becomes(child->pid(), 'T'));
  {
    ProcessTreeSampler sampler(child->pid());
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ((sampler.finish().user).count(), 0);
  }
  child->thaw();
  EXPECT_TRUE(becomes(child->pid(), 'R'));
}

TEST(OutputOf, IsBothStreamsAndEmptyForWhatDoesNotExist) {
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo a; echo b >&2"}), "a\nb\n");
  EXPECT_EQ(output_of({"/no/such/program"}), "");
}

}  // namespace
}  // namespace titanium::probe
