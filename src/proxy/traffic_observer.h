// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace titanium::proxy {

// One exchange that is over. All views are valid during the call only.
struct ExchangeFinished {
  std::chrono::system_clock::time_point started;
  std::chrono::microseconds duration{0};
  std::string_view client_ip;
  std::string_view method;
  std::string_view scheme;
  std::string_view host;     // Authority as the client sent it.
  std::string_view path;     // Path and query.
  std::uint16_t status = 0;  // 0: no response reached the client.
  std::uint64_t request_body_bytes = 0;
  std::uint64_t response_body_bytes = 0;
  std::string_view origin;       // "host:port"; empty: no origin was asked.
  bool origin_reused = false;    // The origin connection had served another exchange before.
  unsigned attempts = 0;         // Origins or connections tried.
  const Error* error = nullptr;  // Null: the exchange ended as it should.
};

// What the proxy tells the outside. Declared here, implemented above (access log, inspector).
//
// Called on the worker thread that owns the exchange. Must not block and must not call back.
class TrafficObserver {
 public:
  virtual void on_exchange_finished(const ExchangeFinished& event) noexcept = 0;

 protected:
  ~TrafficObserver() = default;  // Observers are never owned through this interface.
};

}  // namespace titanium::proxy
