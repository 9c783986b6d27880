// SPDX-License-Identifier: MIT
//
// What a process and all its descendants use, read from /proc. Products differ in how many they
// are: a master with workers, one process with threads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace titanium::probe {

struct TreeUsage {
  std::chrono::duration<double> window{0};
  std::chrono::duration<double> user{0};
  std::chrono::duration<double> system{0};
  std::uint64_t rss_peak_bytes = 0;  // Largest sum over the tree that was seen.
  std::uint64_t voluntary_switches = 0;

  // Share of the whole machine: 100 means all CPUs all the time.
  [[nodiscard]] double cpu_percent() const noexcept;
};

// The tree below `root` at this moment, the root first.
[[nodiscard]] std::vector<pid_t> process_tree(pid_t root);

// Watches a tree from its construction to finish(). The kernel counts CPU in ticks of usually 10 ms
// for each process, so windows should last seconds.
//
// Processes that come and go are included: the CPU time of one that ended is in its parent's
// account of reaped children, and its context switches are those of the last poll that saw it.
class ProcessTreeSampler {
 public:
  explicit ProcessTreeSampler(pid_t root,
                              std::chrono::milliseconds interval = std::chrono::milliseconds(200));
  ~ProcessTreeSampler();
  ProcessTreeSampler(const ProcessTreeSampler&) = delete;
  ProcessTreeSampler& operator=(const ProcessTreeSampler&) = delete;

  [[nodiscard]] TreeUsage finish();

 private:
  struct Cpu {
    std::uint64_t user_ticks = 0;
    std::uint64_t system_ticks = 0;
  };
  struct Switches {
    std::uint64_t first = 0;  // 0 for threads that began after the sampler.
    std::uint64_t last = 0;
  };

  void poll_until_stopped();
  void poll(bool first);
  void count_switches(pid_t process, bool first);
  [[nodiscard]] Cpu cpu_of_tree() const;

  const pid_t root_;
  const std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point begin_;
  Cpu begin_cpu_;
  std::uint64_t rss_peak_bytes_ = 0;
  std::map<pid_t, Switches> switches_;  // By thread.

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread poller_;
};

}  // namespace titanium::probe
