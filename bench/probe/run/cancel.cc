// SPDX-License-Identifier: MIT
#include "run/cancel.h"

#include <unistd.h>

#include <csignal>
#include <string_view>
#include <thread>

#include "options.h"
#include "run/child_process.h"
#include "run/scratch.h"

namespace titanium::probe {
namespace {

[[noreturn]] void wait_and_end(sigset_t signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  constexpr std::string_view kText =
      "\ncancelled; what was measured so far is in the result file\n";
  (void)!write(STDERR_FILENO, kText.data(), kText.size());
  kill_all_children_for_good();
  remove_all_scratch_folders();
  _exit(kExitCancelled);
}

}  // namespace

void end_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_and_end, signals).detach();
}

}  // namespace titanium::probe
