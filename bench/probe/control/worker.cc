// SPDX-License-Identifier: MIT
#include "control/worker.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace titanium::probe::control {
namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::abort();
}

net::FileDescriptor checked(int fd, const char* what) {
  if (fd < 0) die(what);
  return net::FileDescriptor(fd);
}

}  // namespace

class Worker::Acceptor final : public Pollable {
 public:
  explicit Acceptor(Worker& worker) noexcept : worker_(worker) {}
  void on_events(std::uint32_t /*events*/) override { worker_.accept_all(); }

 private:
  Worker& worker_;
};

Worker::Worker(net::FileDescriptor listening, MakeSession make_session)
    : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      listening_(std::move(listening)),
      make_session_(std::move(make_session)),
      acceptor_(std::make_unique<Acceptor>(*this)),
      scratch_(kScratchBytes) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) die("epoll_ctl");
  watch(listening_.get(), *acceptor_);
}

Worker::~Worker() = default;

void Worker::watch(int fd, Pollable& pollable) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                    .data = {.ptr = &pollable}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) die("epoll_ctl");
}

void Worker::run() {
  std::array<epoll_event, 256> events;
  while (!stopping_.load()) {
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      auto* const pollable = static_cast<Pollable*>(event.data.ptr);
      if (pollable != nullptr) pollable->on_events(event.events);
    }
    ended_.clear();
    buried_.clear();
  }
}

void Worker::stop() noexcept {
  stopping_.store(true);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void Worker::accept_all() {
  for (;;) {
    net::FileDescriptor socket(
        ::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Everything but "nobody is left" concerns one connection; without descriptors the rest waits
      // for the next connection.
      if (errno == EAGAIN || errno == EMFILE || errno == ENFILE) return;
      continue;
    }
    auto session = make_session_(*this, std::move(socket));
    Session* const key = session.get();
    if (key != nullptr) sessions_.emplace(key, std::move(session));
  }
}

void Worker::remove(Session& session) {
  const auto found = sessions_.find(&session);
  if (found == sessions_.end()) return;
  ended_.push_back(std::move(found->second));
  sessions_.erase(found);
}

void Worker::bury(std::unique_ptr<Pollable> pollable) { buried_.push_back(std::move(pollable)); }

}  // namespace titanium::probe::control
