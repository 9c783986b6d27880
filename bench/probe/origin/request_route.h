// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.h"

namespace titanium::probe {

// What a request asks the origin for; the table is in origin.h.
struct RequestRoute {
  enum class Kind : std::uint8_t { tiny, bytes, echo, early, websocket, grpc, unknown };
  Kind kind = Kind::unknown;
  std::uint64_t number = 0;                     // The N of the path.
  std::optional<std::uint64_t> answer_bytes{};  // The M of /early/N/M.
  bool operator==(const RequestRoute&) const = default;
};

// Bodies larger than this are nobody's workload.
inline constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 30;

[[nodiscard]] RequestRoute find_route(http::Method method, std::string_view path) noexcept;

}  // namespace titanium::probe
