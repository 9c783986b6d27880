// SPDX-License-Identifier: MIT
//
// What the child processes of the probe (origin, controls, shim) have in common.
#pragma once

#include <string>

#include "net/event_loop.h"
#include "net/file_descriptor.h"

namespace titanium::probe {

// Asks the kernel for SIGTERM when the parent dies, so that no child outlives a probe that was
// killed, and blocks SIGTERM and SIGINT: the descriptor becomes readable instead. To be called
// before threads are started.
[[nodiscard]] net::FileDescriptor open_shutdown_signals();

// One line for the parent, at once: "ready http=8080 https=8443".
void print_ready(const std::string& what);

// Stops a loop when a shutdown signal comes.
class StopOnSignal final : private net::IoHandler {
 public:
  StopOnSignal(net::EventLoop& loop, net::FileDescriptor signals);
  ~StopOnSignal();

 private:
  void on_ready(net::Readiness ready) override;

  net::EventLoop& loop_;
  net::FileDescriptor signals_;
};

}  // namespace titanium::probe
