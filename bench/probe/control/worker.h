// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/file_descriptor.h"

namespace titanium::probe::control {

// Whatever a worker watches.
class Pollable {
 public:
  virtual ~Pollable() = default;
  virtual void on_events(std::uint32_t events) = 0;
};

// One connection of a client with all that belongs to it.
class Session {
 public:
  virtual ~Session() = default;
};

// A thread's epoll loop, as thin as it can be: edge-triggered, one system call for all events.
class Worker {
 public:
  static constexpr std::size_t kScratchBytes = 64 * 1024;

  // Called for each accepted connection.
  using MakeSession = std::function<std::unique_ptr<Session>(Worker&, net::FileDescriptor)>;

  Worker(net::FileDescriptor listening, MakeSession make_session);
  ~Worker();

  void run();
  void stop() noexcept;  // From any thread.

  void watch(int fd, Pollable& pollable);
  // Destroys the session after the events of this turn.
  void remove(Session& session);
  // The same for anything that is watched.
  void bury(std::unique_ptr<Pollable> pollable);

  // All reads go here; valid until the next read.
  [[nodiscard]] std::vector<char>& scratch() noexcept { return scratch_; }

 private:
  class Acceptor;

  void accept_all();

  net::FileDescriptor epoll_;
  net::FileDescriptor wake_;
  net::FileDescriptor listening_;
  MakeSession make_session_;
  std::unique_ptr<Acceptor> acceptor_;
  std::vector<char> scratch_;
  std::unordered_map<Session*, std::unique_ptr<Session>> sessions_;
  std::vector<std::unique_ptr<Session>> ended_;
  std::vector<std::unique_ptr<Pollable>> buried_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace titanium::probe::control
