// SPDX-License-Identifier: MIT
#include "service/service.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace titanium::probe {

net::FileDescriptor open_shutdown_signals() {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Writing to a connection that is gone is told by errno.
  ::signal(SIGPIPE, SIG_IGN);
  const int fd = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd < 0) {
    std::perror("signalfd");
    std::abort();
  }
  return net::FileDescriptor(fd);
}

void print_ready(const std::string& what) {
  std::printf("ready %s\n", what.c_str());
  std::fflush(stdout);
}

StopOnSignal::StopOnSignal(net::EventLoop& loop, net::FileDescriptor signals)
    : loop_(loop), signals_(std::move(signals)) {
  if (!loop_.watch(signals_.get(), *this)) {
    std::perror("epoll_ctl");
    std::abort();
  }
}

StopOnSignal::~StopOnSignal() { loop_.forget(*this); }

void StopOnSignal::on_ready(net::Readiness ready) {
  // The descriptor is watched for everything, so that the first event may be about nothing.
  if (ready.readable) loop_.stop();
}

}  // namespace titanium::probe
