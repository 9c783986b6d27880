// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace titanium::cli {
namespace {

// The kernel gives these descriptors to any process that has not run out of them at its very start.
[[nodiscard]] net::FileDescriptor must_have(int fd) {
  if (fd < 0) {
    std::perror("titanium: no descriptor for signals");
    std::abort();
  }
  return net::FileDescriptor(fd);
}

}  // namespace

void block_all_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

SignalWaiter::SignalWaiter() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = must_have(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  finished_ = must_have(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

Wakeup SignalWaiter::wait() {
  for (;;) {
    pollfd entries[] = {{.fd = finished_.get(), .events = POLLIN, .revents = 0},
                        {.fd = signals_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(entries, 2, -1) < 0) continue;  // EINTR: a debugger or job control.
    if (entries[0].revents != 0) return Wakeup::finished;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    switch (info.ssi_signo) {
      case SIGHUP:
        return Wakeup::reload;
      case SIGINT:
        return Wakeup::interrupt;
      default:
        return Wakeup::stop;
    }
  }
}

void SignalWaiter::finish() noexcept {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, and then wait() returns anyway.
  if (::write(finished_.get(), &one, sizeof one) < 0) return;
}

}  // namespace titanium::cli
