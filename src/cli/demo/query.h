// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace titanium::cli::demo {

// All of `text` as a decimal number, at most `max`.
[[nodiscard]] inline std::optional<std::uint64_t> parse_number(std::string_view text,
                                                               std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || value > max) return std::nullopt;
  return value;
}

// The parameter `name` of a query such as "a=1&b=2": its number, `fallback` if it is not there, and
// nullopt if it is no number up to `max`.
[[nodiscard]] inline std::optional<std::uint64_t> query_number(std::string_view query,
                                                               std::string_view name,
                                                               std::uint64_t fallback,
                                                               std::uint64_t max) {
  while (!query.empty()) {
    const auto end = query.find('&');
    std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (!pair.starts_with(name) || pair.size() == name.size() || pair[name.size()] != '=') continue;
    return parse_number(pair.substr(name.size() + 1), max);
  }
  return fallback;
}

}  // namespace titanium::cli::demo
