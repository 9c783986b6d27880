// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdint>

#include "net/tcp.h"

namespace titanium::cli {

// For threads that are not to run signal handlers of the program that we are embedded in.
void block_all_signals() noexcept;

// Blocks all signals of this thread for a while, so that threads that are started meanwhile inherit
// that.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();

 private:
  sigset_t before_{};
};

// Raises the number of descriptors that the process may have to what the administrator allows:
// each exchange needs two.
void raise_descriptor_limit() noexcept;

enum class Wakeup : std::uint8_t {
  interrupt,  // SIGINT: stop, asked for by somebody at a terminal.
  stop,       // SIGTERM.
  reload,     // SIGHUP.
  finished,
};
[[nodiscard]] constexpr bool is_stop(Wakeup wakeup) noexcept {
  return wakeup == Wakeup::interrupt || wakeup == Wakeup::stop;
}

// Turns signals into values that one thread waits for. SIGPIPE is ignored. Made before any other
// thread, so that all threads inherit the mask.
class SignalWaiter {
 public:
  SignalWaiter();

  // Blocks until a signal comes, or finish() is called.
  [[nodiscard]] Wakeup wait();

  // From any thread: wait() returns `finished`, now or when it is called next.
  void finish() noexcept;

 private:
  net::FileDescriptor signals_;
  net::FileDescriptor finished_;
};

}  // namespace titanium::cli
