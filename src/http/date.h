// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>

namespace titanium::http {

// IMF-fixdate (RFC 9110 §5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
inline constexpr std::size_t kDateBytes = 29;
void format_date(std::time_t seconds, std::array<char, kDateBytes>& out) noexcept;
// All three forms that a recipient must accept. `now` decides the century of a two-digit year; the
// first form asks the system clock.
[[nodiscard]] std::optional<std::time_t> parse_date(std::string_view text) noexcept;
[[nodiscard]] std::optional<std::time_t> parse_date(std::string_view text,
                                                    std::time_t now) noexcept;

// The value of Date, formatted once per second. One per worker.
class DateCache {
 public:
  // Valid until the next call.
  [[nodiscard]] std::string_view at(std::time_t seconds) noexcept;

 private:
  std::time_t cached_ = std::numeric_limits<std::time_t>::min();  // No time asked for yet.
  std::array<char, kDateBytes> text_{};
};

}  // namespace titanium::http
