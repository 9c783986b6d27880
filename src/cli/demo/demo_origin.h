// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "base/log.h"
#include "net/address.h"

namespace titanium::cli::demo {

// A small HTTP/1.1 origin within the process, so that `titanium run` has something to show before
// anything is configured. Listens on a free port of 127.0.0.1 and serves from a thread of its own.
//
// A real server: keep-alive, pipelining, HEAD, back-pressure, limits and time-outs. What it answers
// is listed at "/" (answers.cc).
class DemoOrigin {
 public:
  // The error is a sentence for the operator.
  [[nodiscard]] static std::expected<std::unique_ptr<DemoOrigin>, std::string> start(Logger logger);
  // Stops at once: open connections are closed.
  ~DemoOrigin();

  [[nodiscard]] const net::SocketAddress& address() const noexcept;

 private:
  struct Impl;
  explicit DemoOrigin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::cli::demo
