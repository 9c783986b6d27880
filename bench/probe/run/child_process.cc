// SPDX-License-Identifier: MIT
#include "run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "run/scratch.h"

// Declared by nobody else: what the program was started with.
extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPollInterval{2};
constexpr milliseconds kGraceBeforeKill{5000};

// The thread that waits for signals has to know every child. Held while one is being made or
// reaped, so that no id is used after it was freed.
struct Living {
  std::mutex mutex;
  std::set<pid_t> groups;
};
[[nodiscard]] Living& living() {
  static Living instance;
  return instance;
}

// execve() wants arrays of pointers; they have to be ready before fork(), after which a child of a
// process with threads may not allocate.
class PointerArray {
 public:
  explicit PointerArray(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char** data() noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

[[nodiscard]] std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(added, [&](const auto& a) { return a.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

// In the child: only calls that are safe there. Returns if the program can not be executed.
void become(PointerArray& arguments, PointerArray& environment, int log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // It died before the line above.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execve(arguments.data()[0], arguments.data(), environment.data());
}

}  // namespace

std::expected<std::unique_ptr<ChildProcess>, std::string> ChildProcess::start(
    ChildOptions options) {
  const std::string program = options.command.front();
  const int log =
      open(options.log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) {
    return std::unexpected(fmt::format("{}: {}", options.log_file.string(), std::strerror(errno)));
  }
  PointerArray arguments(std::move(options.command));
  PointerArray environment(environment_with(options.environment));
  int failure[2];  // The child says here why it could not be executed; closed if it was.
  if (pipe2(failure, O_CLOEXEC) != 0) {
    close(log);
    return std::unexpected(fmt::format("{}: {}", program, std::strerror(errno)));
  }
  pid_t pid = -1;
  {
    const std::scoped_lock lock(living().mutex);
    const pid_t parent = getpid();
    pid = fork();
    if (pid == 0) {
      become(arguments, environment, log, parent);
      const int error = errno;
      (void)!write(failure[1], &error, sizeof error);
      _exit(127);
    }
    if (pid > 0) {
      setpgid(pid, pid);  // As in the child: whoever comes first.
      living().groups.insert(pid);
    }
  }
  int error = pid < 0 ? errno : 0;
  close(failure[1]);
  close(log);
  if (pid > 0 && read(failure[0], &error, sizeof error) <= 0) error = 0;
  close(failure[0]);
  if (pid < 0) return std::unexpected(fmt::format("{}: {}", program, std::strerror(error)));
  auto child = std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(options.log_file)));
  if (error != 0) return std::unexpected(fmt::format("{}: {}", program, std::strerror(error)));
  return child;
}

ChildProcess::~ChildProcess() {
  if (reap(false)) return;
  kill(-pid_, SIGTERM);
  kill(-pid_, SIGCONT);  // A frozen one would never hear of it.
  if (reap_within(kGraceBeforeKill)) return;
  kill(-pid_, SIGKILL);
  (void)reap(true);
}

bool ChildProcess::reap(bool wait) {
  if (ended_) return true;
  if (wait) {
    // The lock is not held while waiting; WNOWAIT leaves the id in use.
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
  }
  const std::scoped_lock lock(living().mutex);
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
      info.si_pid == 0) {
    return false;
  }
  // While its leader is not reaped the group's id is ours: workers that it left behind die now.
  kill(-pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
  living().groups.erase(pid_);
  ended_ = true;
  return true;
}

bool ChildProcess::reap_within(milliseconds time) {
  const auto deadline = steady_clock::now() + time;
  while (!reap(false)) {
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

bool ChildProcess::is_alive() { return !reap(false); }

std::string ChildProcess::ending() const {
  if (!ended_) return {};
  if (WIFSIGNALED(status_)) return fmt::format("signal {}", WTERMSIG(status_));
  return fmt::format("exit code {}", WEXITSTATUS(status_));
}

void ChildProcess::freeze() {
  if (!ended_) kill(-pid_, SIGSTOP);
}

void ChildProcess::thaw() {
  if (!ended_) kill(-pid_, SIGCONT);
}

std::string ChildProcess::output(std::size_t bytes) const {
  std::string text = read_file(log_file_);
  if (text.size() > bytes) text.erase(0, text.size() - bytes);
  return text;
}

std::string ChildProcess::wait_for_line(std::string_view start, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (;;) {
    const bool alive = is_alive();
    const std::string text = read_file(log_file_);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t feed = text.find('\n', at);
      if (feed == std::string::npos) break;
      const std::string_view line = std::string_view(text).substr(at, feed - at);
      if (line.starts_with(start)) return std::string(line);
      at = feed + 1;
    }
    if (!alive || steady_clock::now() >= deadline) return {};
    std::this_thread::sleep_for(kPollInterval);
  }
}

std::string output_of(const std::vector<std::string>& command) {
  auto scratch = ScratchFolder::create();
  if (!scratch) return {};
  const auto log_file = scratch->path() / "output";
  auto child = ChildProcess::start({.command = command, .log_file = log_file});
  if (!child) return {};
  const auto deadline = steady_clock::now() + std::chrono::seconds(10);
  while ((*child)->is_alive() && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPollInterval);
  }
  return read_file(log_file);
}

void kill_all_children_for_good() {
  living().mutex.lock();
  for (const pid_t group : living().groups) kill(-group, SIGKILL);
}

}  // namespace titanium::probe
