// SPDX-License-Identifier: MIT
#include "service/alarm_clock.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace titanium::probe {
namespace {

net::FileDescriptor make_timer() {
  const int fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) {
    std::perror("timerfd_create");
    std::abort();
  }
  return net::FileDescriptor(fd);
}

}  // namespace

AlarmClock::AlarmClock(net::EventLoop& loop) : loop_(loop), timer_(make_timer()) {
  if (!loop_.watch(timer_.get(), *this)) {
    std::perror("epoll_ctl");
    std::abort();
  }
}

AlarmClock::~AlarmClock() { loop_.forget(*this); }

void AlarmClock::set(AlarmHandler& handler, net::TimePoint due) {
  cancel(handler);
  heap_.push_back({due, &handler});
  std::ranges::push_heap(heap_, Later{});
  if (!firing_ && heap_.front().handler == &handler) arm_for_first();
}

void AlarmClock::cancel(AlarmHandler& handler) noexcept {
  const auto found = std::ranges::find(heap_, &handler, &Entry::handler);
  if (found == heap_.end()) return;
  heap_.erase(found);
  std::ranges::make_heap(heap_, Later{});
}

void AlarmClock::arm_for_first() noexcept {
  if (heap_.empty()) return;
  using std::chrono::nanoseconds;
  const auto since_boot = heap_.front().due.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = std::max<long>(1, nanoseconds(since_boot - seconds).count());
  // Setting a timer clears what it has counted: it is never read, and each expiry is a new edge.
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void AlarmClock::on_ready(net::Readiness /*ready*/) {
  firing_ = true;
  const net::TimePoint now = net::Clock::now();
  while (!heap_.empty() && heap_.front().due <= now) {
    AlarmHandler* const handler = heap_.front().handler;
    std::ranges::pop_heap(heap_, Later{});
    heap_.pop_back();
    handler->on_alarm();
  }
  firing_ = false;
  arm_for_first();
}

}  // namespace titanium::probe
