// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/message.h"
#include "load/load.h"
#include "origin/content.h"

namespace titanium::probe {

// The one request of a step and the answer to it, whatever the version of HTTP.
struct RequestPlan {
  http::Method method = http::Method::get;
  std::string path{};
  std::string authority{};
  std::uint32_t body_bytes = 0;  // Of the pattern.
  std::string message{};         // gRPC: the body, and the answer to it.
  // Length of the pattern that has to come back; nullopt: the tiny JSON.
  std::optional<std::uint64_t> answer_bytes{};

  [[nodiscard]] BodyCheck make_check() const noexcept;
  // "POST /echo": for error texts.
  [[nodiscard]] std::string name() const;
};

[[nodiscard]] RequestPlan plan_request(const LoadTarget& target, const Workload& workload);

}  // namespace titanium::probe
