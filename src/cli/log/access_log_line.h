// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "proxy/traffic_observer.h"

namespace titanium::cli {

// Longest parts of a line, in bytes as written (escapes included). Longer ones are cut.
inline constexpr std::size_t kMaxLoggedUrlBytes = 8 * 1024;
inline constexpr std::size_t kMaxLoggedTextBytes = 512;
// More than the sum of all parts, the line feed included.
inline constexpr std::size_t kMaxAccessLogLineBytes = 12 * 1024;

// Writes one NDJSON line about `event` and returns its length. Never allocates, never fails.
[[nodiscard]] std::size_t write_access_log_line(
    const proxy::ExchangeFinished& event, std::span<char, kMaxAccessLogLineBytes> out) noexcept;

}  // namespace titanium::cli
