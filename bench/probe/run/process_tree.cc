// SPDX-License-Identifier: MIT
#include "run/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "run/scratch.h"

namespace titanium::probe {
namespace {

// The numbers of /proc/PID/stat that matter here (proc_pid_stat(5)).
struct Stat {
  pid_t parent = 0;
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  std::uint64_t rss_pages = 0;
};

[[nodiscard]] std::uint64_t to_number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

[[nodiscard]] std::optional<Stat> read_stat(pid_t process) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", process));
  // The name may have spaces and parentheses in it: fields are counted from the last one.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(name_end + 1);
  constexpr std::size_t kFirstField = 3;
  std::array<std::uint64_t, 25> fields{};
  for (std::size_t field = kFirstField; field < fields.size(); ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::size_t end = std::min(rest.find(' '), rest.size());
    fields[field] = to_number(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  // Own times (14, 15) and those of children that were reaped (16, 17).
  return Stat{.parent = static_cast<pid_t>(fields[4]),
              .user_ticks = fields[14] + fields[16],
              .system_ticks = fields[15] + fields[17],
              .rss_pages = fields[24]};
}

// The names in `folder` that are numbers: processes, or threads.
[[nodiscard]] std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (!dir) return numbers;
  while (const dirent* entry = readdir(dir.get())) {
    const std::uint64_t number = to_number(entry->d_name);
    if (number > 0) numbers.push_back(static_cast<pid_t>(number));
  }
  return numbers;
}

[[nodiscard]] std::uint64_t voluntary_switches(pid_t process, pid_t thread) {
  const std::string text = read_file(fmt::format("/proc/{}/task/{}/status", process, thread));
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:\t";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return 0;
  return to_number(std::string_view(text).substr(at + kKey.size()));
}

}  // namespace

double TreeUsage::cpu_percent() const noexcept {
  const auto cpus = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (window.count() <= 0) return 0;
  return 100 * (user + system).count() / window.count() / cpus;
}

std::vector<pid_t> process_tree(pid_t root) {
  std::vector<std::pair<pid_t, pid_t>> parents;
  for (const pid_t process : numbers_in("/proc")) {
    if (const auto stat = read_stat(process)) parents.emplace_back(process, stat->parent);
  }
  std::vector<pid_t> tree = {root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const auto& [process, parent] : parents) {
      if (parent == tree[i]) tree.push_back(process);
    }
  }
  return tree;
}

ProcessTreeSampler::ProcessTreeSampler(pid_t root, std::chrono::milliseconds interval)
    : root_(root), interval_(interval) {
  poll(true);
  begin_cpu_ = cpu_of_tree();
  begin_ = std::chrono::steady_clock::now();
  poller_ = std::thread(&ProcessTreeSampler::poll_until_stopped, this);
}

ProcessTreeSampler::~ProcessTreeSampler() {
  if (poller_.joinable()) (void)finish();
}

TreeUsage ProcessTreeSampler::finish() {
  const auto end = std::chrono::steady_clock::now();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  poller_.join();
  const Cpu end_cpu = cpu_of_tree();
  poll(false);

  const auto seconds = [](std::uint64_t from, std::uint64_t to) {
    const auto ticks = static_cast<double>(to > from ? to - from : 0);
    return std::chrono::duration<double>(ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
  };
  TreeUsage usage{.window = end - begin_,
                  .user = seconds(begin_cpu_.user_ticks, end_cpu.user_ticks),
                  .system = seconds(begin_cpu_.system_ticks, end_cpu.system_ticks),
                  .rss_peak_bytes = rss_peak_bytes_};
  for (const auto& [thread, count] : switches_) {
    usage.voluntary_switches += count.last > count.first ? count.last - count.first : 0;
  }
  return usage;
}

void ProcessTreeSampler::poll_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval_, [this] { return stopping_; })) poll(false);
}

void ProcessTreeSampler::poll(bool first) {
  std::uint64_t pages = 0;
  for (const pid_t process : process_tree(root_)) {
    if (const auto stat = read_stat(process)) pages += stat->rss_pages;
    count_switches(process, first);
  }
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  rss_peak_bytes_ = std::max(rss_peak_bytes_, pages * page_bytes);
}

void ProcessTreeSampler::count_switches(pid_t process, bool first) {
  for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", process))) {
    const std::uint64_t count = voluntary_switches(process, thread);
    if (count == 0) continue;  // It ended in between: what was seen of it counts.
    Switches& known = switches_[thread];
    known.last = count;
    if (first) known.first = count;
  }
}

ProcessTreeSampler::Cpu ProcessTreeSampler::cpu_of_tree() const {
  Cpu cpu;
  for (const pid_t process : process_tree(root_)) {
    const auto stat = read_stat(process);
    if (!stat) continue;
    cpu.user_ticks += stat->user_ticks;
    cpu.system_ticks += stat->system_ticks;
  }
  return cpu;
}

}  // namespace titanium::probe
