// SPDX-License-Identifier: MIT
//
// Programs that the probe starts. Each gets a process group of its own, dies with the probe, and is
// ended by its id. What it says goes to a file, so that nobody has to empty a pipe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titanium::probe {

struct ChildOptions {
  std::vector<std::string> command;                                // argv; the first is a path.
  std::filesystem::path log_file;                                  // Takes stdout and stderr.
  std::vector<std::pair<std::string, std::string>> environment{};  // In addition to ours.
};

class ChildProcess {
 public:
  // The error says which program could not be started, and why.
  [[nodiscard]] static std::expected<std::unique_ptr<ChildProcess>, std::string> start(
      ChildOptions options);
  // Ends the whole group: SIGTERM, and SIGKILL after 5 s.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // False once it has ended by itself.
  [[nodiscard]] bool is_alive();
  // How it ended: "exit code 1", "signal 11". Empty while it is alive.
  [[nodiscard]] std::string ending() const;

  // Stops and continues the group (SIGSTOP, SIGCONT): a frozen process takes no CPU at all.
  void freeze();
  void thaw();

  // What it said so far, at most the last `bytes`.
  [[nodiscard]] std::string output(std::size_t bytes = 4096) const;
  // Waits for a whole line that begins with `start`. Empty: it ended, or the time is over.
  [[nodiscard]] std::string wait_for_line(std::string_view start,
                                          std::chrono::milliseconds timeout);

 private:
  ChildProcess(pid_t pid, std::filesystem::path log_file)
      : pid_(pid), log_file_(std::move(log_file)) {}
  [[nodiscard]] bool reap(bool wait);
  [[nodiscard]] bool reap_within(std::chrono::milliseconds time);

  pid_t pid_;
  std::filesystem::path log_file_;
  bool ended_ = false;
  int status_ = 0;  // Of waitpid(2).
};

// Runs a command to its end, 10 s at most, and returns stdout and stderr. Empty if it can not run.
[[nodiscard]] std::string output_of(const std::vector<std::string>& command);

// Kills the groups of all children that are alive, for the end after a signal. From then on nobody
// can start one: start() blocks for ever, as the process is about to end.
void kill_all_children_for_good();

}  // namespace titanium::probe
