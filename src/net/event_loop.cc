// SPDX-License-Identifier: MIT
#include "net/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "net/file_descriptor.h"
#include "net/timer_wheel.h"

namespace titanium::net {
namespace {

// What the kernel refuses here is a bug or a machine that cannot run any server.
[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

FileDescriptor checked(int fd, const char* what) {
  if (fd < 0) die(what);
  return FileDescriptor(fd);
}

std::time_t read_wall_seconds() noexcept {
  timespec time{};
  // Coarse: read from memory that the kernel updates each jiffy, and seconds are all we want.
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  return time.tv_sec;
}

Readiness readiness_of(std::uint32_t events) noexcept {
  // EPOLLHUP is no failure by itself: it also says that both directions ended in an orderly way.
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
  const bool failed = (events & EPOLLERR) != 0;
  return {.readable = (events & EPOLLIN) != 0 || ended || failed,
          .writable = (events & (EPOLLOUT | EPOLLHUP)) != 0 || failed,
          .peer_closed = ended,
          .failed = failed};
}

}  // namespace

struct EventLoop::Impl {
  static constexpr std::size_t kEvents = 256;

  explicit Impl(TimePoint now)
      : epoll(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        wake(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
        wheel(now) {
    // Edge-triggered: each write is reported once, so the counter never has to be read.
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) die("epoll_ctl");
  }

  void ring() noexcept {
    const int saved = errno;  // stop() may have interrupted anything.
    const std::uint64_t one = 1;
    // EAGAIN means that the counter is full: then the loop has been woken already.
    [[maybe_unused]] const auto written = ::write(wake.get(), &one, sizeof one);
    errno = saved;
  }

  [[nodiscard]] bool has_work() const noexcept { return pending.load() || stopping.load(); }
  [[nodiscard]] int timeout_ms(Duration limit, TimePoint now);
  void collect_events(int timeout);
  void drop_events(const IoHandler& handler) noexcept;
  void report_events();
  void run_messages();
  void finish_turn();
  void destroy_doomed();

  FileDescriptor epoll;
  FileDescriptor wake;
  TimerWheel wheel;

  std::array<epoll_event, kEvents> events;
  std::size_t at = 0;  // The event that is being reported.
  std::size_t event_count = 0;

  IntrusiveList<Deferred> deferred;
  IntrusiveList<Deferred> next_turn;
  std::vector<std::pair<void*, Destroy>> doomed;
  std::vector<std::pair<void*, Destroy>> dying;  // Kept for its memory.

  std::mutex mutex;
  std::vector<std::move_only_function<void()>> messages;  // Guarded by mutex.
  std::vector<std::move_only_function<void()>> running;
  std::atomic<bool> pending = false;   // There are messages.
  std::atomic<bool> sleeping = false;  // The loop waits, or is about to: writing `wake` is needed.
  std::atomic<bool> stopping = false;
};

int EventLoop::Impl::timeout_ms(Duration limit, TimePoint now) {
  if (!deferred.empty() || !next_turn.empty() || !doomed.empty()) return 0;
  if (const auto look = wheel.next_look()) {
    limit = std::min(limit, std::chrono::ceil<Duration>(*look - now));
  }
  if (limit == Duration::max()) return -1;
  const auto most = Duration(std::numeric_limits<int>::max());
  return static_cast<int>(std::clamp(limit, Duration::zero(), most).count());
}

void EventLoop::Impl::collect_events(int timeout) {
  if (timeout != 0) {
    // Announced before looking: a poster that comes after the look sees the announcement.
    sleeping.store(true);
    if (has_work()) timeout = 0;
  }
  const int count =
      ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), timeout);
  sleeping.store(false, std::memory_order_relaxed);
  if (count < 0 && errno != EINTR) die("epoll_wait");
  event_count = count > 0 ? static_cast<std::size_t>(count) : 0;
}

void EventLoop::Impl::report_events() {
  for (at = 0; at < event_count; ++at) {
    auto* handler = static_cast<IoHandler*>(events[at].data.ptr);
    if (handler != nullptr) handler->on_ready(readiness_of(events[at].events));
  }
  event_count = 0;
}

void EventLoop::Impl::drop_events(const IoHandler& handler) noexcept {
  for (std::size_t i = at; i < event_count; ++i) {
    if (events[i].data.ptr == &handler) events[i].data.ptr = nullptr;
  }
}

void EventLoop::Impl::run_messages() {
  if (!pending.load(std::memory_order_relaxed)) return;
  pending.store(false);
  {
    const std::lock_guard lock(mutex);
    running.swap(messages);
  }
  for (auto& message : running) message();
  running.clear();
}

void EventLoop::Impl::finish_turn() {
  do {
    while (Deferred* work = deferred.pop_front()) work->on_turn_end();
    destroy_doomed();
  } while (!deferred.empty() || !doomed.empty());
}

void EventLoop::Impl::destroy_doomed() {
  dying.swap(doomed);
  for (const auto& [object, destroy] : dying) destroy(object);
  dying.clear();
}

EventLoop::EventLoop()
    : now_(Clock::now()), wall_seconds_(read_wall_seconds()), impl_(std::make_unique<Impl>(now_)) {}

EventLoop::~EventLoop() {
  // Destructors may still talk to the loop, so they run before anything of it is gone.
  for (;;) {
    while (!impl_->doomed.empty()) impl_->destroy_doomed();
    std::vector<std::move_only_function<void()>> unrun;
    {
      const std::lock_guard lock(impl_->mutex);
      unrun.swap(impl_->messages);
    }
    if (unrun.empty()) return;
  }
}

void EventLoop::run() {
  while (!impl_->stopping.load()) run_turn(Duration::max());
  impl_->stopping.store(false);
}

void EventLoop::run_once(Duration wait) { run_turn(wait); }

void EventLoop::run_turn(Duration wait) {
  impl_->collect_events(impl_->timeout_ms(wait, now_));
  impl_->deferred.splice_back(impl_->next_turn);
  now_ = Clock::now();
  wall_seconds_ = read_wall_seconds();
  impl_->wheel.set_now(now_);
  impl_->report_events();
  impl_->wheel.fire_due();
  impl_->run_messages();
  impl_->finish_turn();
}

void EventLoop::stop() noexcept {
  impl_->stopping.store(true);
  impl_->ring();
}

void EventLoop::post(std::move_only_function<void()> message) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->messages.push_back(std::move(message));
  }
  impl_->pending.store(true);
  if (impl_->sleeping.exchange(false)) impl_->ring();
}

TimerWheel& EventLoop::timers() noexcept { return impl_->wheel; }

bool EventLoop::watch(int fd, IoHandler& handler) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &handler}};
  if (::epoll_ctl(impl_->epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0) return true;
  if (errno != ENOSPC && errno != ENOMEM) die("epoll_ctl");
  return false;
}

void EventLoop::unwatch(int fd, IoHandler& handler) noexcept {
  ::epoll_ctl(impl_->epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
  forget(handler);
}

void EventLoop::forget(IoHandler& handler) noexcept { impl_->drop_events(handler); }

void EventLoop::defer(Deferred& work) noexcept {
  if (!work.is_linked()) impl_->deferred.push_back(work);
}

void EventLoop::defer_to_next_turn(Deferred& work) noexcept {
  if (!work.is_linked()) impl_->next_turn.push_back(work);
}

void EventLoop::add_doomed(void* object, Destroy destroy) {
  if (object != nullptr) impl_->doomed.emplace_back(object, destroy);
}

Timer::Timer(EventLoop& loop, TimerHandler& handler) noexcept : Timer(loop.timers(), handler) {}

}  // namespace titanium::net
