// SPDX-License-Identifier: MIT
#include "arms/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>
#include <utility>

#include "config/diagnostic.h"

namespace titanium::probe {
namespace {

constexpr std::string_view kMatrix =
    "h1c-h1c h1c-h1tls h1c-h2c h1c-h2tls h1c-h3 "
    "h1tls-h1c h1tls-h1tls h1tls-h2c h1tls-h2tls h1tls-h3 "
    "h2c-h1c h2c-h1tls h2c-h2c h2c-h2tls h2c-h3 "
    "h2tls-h1c h2tls-h1tls h2tls-h2c h2tls-h2tls h2tls-h3 "
    "h3-h1c h3-h1tls h3-h2c h3-h2tls h3-h3";

constexpr auto kModes = std::to_array<ModeRow>({
    {"compare", "h1c-h1c h1c-h1tls h1tls-h1c h1tls-h1tls", "", "the four HTTP/1 cells, tiny GET"},
    {"compare-http2",
     "h1c-h2c h1c-h2tls h1tls-h2c h1tls-h2tls h2c-h1c h2c-h1tls h2c-h2c h2c-h2tls h2tls-h1c "
     "h2tls-h1tls h2tls-h2c h2tls-h2tls",
     "", "the cells with HTTP/2 on a leg, tiny GET"},
    {"compare-tls", "h1tls-h1tls h1tls-h2tls h2tls-h1tls h2tls-h2tls", "",
     "the cells with TLS on both legs, tiny GET"},
    {"compare-same", "h1c-h1c h1tls-h1tls h2c-h2c h2tls-h2tls h3-h3", "",
     "the same on both legs, tiny GET"},
    {"compare-bridges",
     "h1c-h2c h1c-h2tls h1c-h3 h1tls-h2c h1tls-h2tls h1tls-h3 h2c-h1c h2c-h1tls h2c-h3 h2tls-h1c "
     "h2tls-h1tls h2tls-h3 h3-h1c h3-h1tls h3-h2c h3-h2tls",
     "", "the cells with another version of HTTP on each leg, tiny GET"},
    {"compare-matrix", kMatrix, "", "all 25 cells, tiny GET"},
    {"compare-http3-cleartext", "h3-h1c", "", "QUIC to the client, clear HTTP/1 to the origin"},
    {"compare-terminate", "h1tls-h1c h2tls-h1c h3-h1c", "",
     "TLS or QUIC to the client, clear HTTP/1 to the origin"},
    {"compare-saturation", "h1c-h1c h2tls-h1c", "",
     "how near generator and origin are to their own limit (blocks A and B)"},
    {"compare-ceiling", "h1c-h1c h1tls-h1c",
     "origin-direct bare-relay bare-reverse-http1 nginx titanium",
     "what any proxy could reach: controls beside nginx and Titanium"},
    {"compare-tls-cost", "h1tls-h1c-ka-tiny h1tls-h1c-nc-tiny h1tls-h1c-ka-256k", "",
     "TLS termination: kept connections, new ones, 256 KiB"},
    {"compare-bodies",
     "h1c-h1c-body64k h1tls-h1c-body64k h2tls-h1c-body64k h3-h1c-body64k h2c-h1c-body64k "
     "h2tls-h2c-body64k h2tls-h2tls-body64k h3-h2tls-body64k h3-h1tls-body64k "
     "h1c-h1c-body256k h1tls-h1c-body256k h2tls-h1c-body256k h3-h1c-body256k h2c-h1c-body256k "
     "h2tls-h2c-body256k h2tls-h2tls-body256k h3-h2tls-body256k h3-h1tls-body256k",
     "", "GET 64 and 256 KiB"},
    {"compare-post",
     "h1c-h1c-post64k h1tls-h1c-post64k h2tls-h1c-post64k h3-h1c-post64k h2c-h1c-post64k "
     "h2tls-h2c-post64k h2tls-h2tls-post64k h3-h2tls-post64k h3-h1tls-post64k",
     "", "POST 64 KiB up and down"},
    {"compare-lossy",
     "h1tls-h1c-lossy h2tls-h1c-lossy h3-h1c-lossy h2c-h1c-lossy h2tls-h2c-lossy "
     "h2tls-h2tls-lossy h3-h2tls-lossy h3-h1tls-lossy",
     "", "GET 64 KiB over a slow link with stalls"},
    {"compare-arch",
     "h1tls-h1c-slow256k h2tls-h1c-slow256k h3-h1c-slow256k h2c-h1c-slow256k h2tls-h2tls-slow256k "
     "h1tls-h1c-early64k h2tls-h1c-early64k h3-h1c-early64k h2tls-h2tls-early64k "
     "h2tls-h2tls-duplex-h2 h1tls-h1c-duplex-ws h1tls-h1tls-duplex-ws-h1tls",
     "", "slow consumer, early response, both directions live, WebSocket echo"},
    {"compare-grpc", "h2tls-h2tls-grpc h2tls-h2c-grpc-h2c", "", "gRPC, unary Echo"},
    {"compare-ws-h1tls", "h1tls-h1tls-duplex-ws-h1tls", "", "WebSocket echo, TLS on both legs"},
    {"compare-ws-h2", "h2tls-h1c-duplex-ws-h2", "",
     "WebSocket echo over HTTP/2 (RFC 8441), to HTTP/1"},
    {"compare-spot", "h1c-h1c h1tls-h1c", "bare-relay nginx haproxy titanium",
     "a quick look, a few minutes"},
});

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, separator)) {
    if (!part.empty()) parts.emplace_back(part.begin(), part.end());
  }
  return parts;
}

[[nodiscard]] std::vector<Arm> arms_of_rows(const ModeRow& mode) {
  const std::vector<Arm> all = all_arms();
  const auto wanted = split(mode.products, ' ');
  std::vector<Arm> arms;
  for (const std::string_view key : split(mode.rows, ' ')) {
    for (const Arm& arm : all) {
      if (arm.row_key != key) continue;
      if (!wanted.empty() && !std::ranges::contains(wanted, product_row(arm.product).name)) {
        continue;
      }
      arms.push_back(arm);
    }
  }
  return arms;
}

[[nodiscard]] std::string unknown_mode(std::string_view mode) {
  std::vector<std::string_view> names;
  for (const ModeRow& row : kModes) names.push_back(row.name);
  const std::vector<Arm> arms = all_arms();
  std::vector<std::string_view> known = names;
  for (const Arm& arm : arms) known.push_back(arm.mode);
  const std::string_view nearest = config::nearest(mode, known);
  return fmt::format(
      "--mode: there is no mode '{}'{}. Modes are {}, and every arm of --print-arms by its name",
      mode, nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest),
      fmt::join(names, ", "));
}

[[nodiscard]] bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('$')) return name.contains(pattern);
  return name.ends_with(pattern.substr(0, pattern.size() - 1));
}

struct Shard {
  std::size_t index = 0;  // From 1.
  std::size_t count = 0;
};

[[nodiscard]] bool read_number(std::string_view text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

[[nodiscard]] bool read_shard(std::string_view text, Shard& shard) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  return read_number(text.substr(0, slash), shard.index) &&
         read_number(text.substr(slash + 1), shard.count) && shard.index >= 1 &&
         shard.index <= shard.count;
}

}  // namespace

std::span<const ModeRow> modes() { return kModes; }

std::expected<std::vector<Arm>, std::string> arms_of_mode(std::string_view mode) {
  const auto row = std::ranges::find(kModes, mode, &ModeRow::name);
  if (row != kModes.end()) return arms_of_rows(*row);
  std::vector<Arm> arms = all_arms();
  std::erase_if(arms, [&](const Arm& arm) { return arm.name != mode && arm.mode != mode; });
  if (arms.empty()) return std::unexpected(unknown_mode(mode));
  return arms;
}

std::vector<Arm> keep_containing(std::vector<Arm> arms, std::string_view text) {
  const auto patterns = split(text, ',');
  if (patterns.empty()) return arms;
  std::erase_if(arms, [&](const Arm& arm) {
    return std::ranges::none_of(patterns, [&](auto pattern) { return matches(arm.name, pattern); });
  });
  return arms;
}

std::expected<std::vector<Arm>, std::string> keep_shard(std::vector<Arm> arms,
                                                        std::string_view text) {
  if (text == "all") return arms;
  const std::vector<std::string> keys = row_keys(arms);
  if (std::ranges::contains(keys, text)) {
    std::erase_if(arms, [&](const Arm& arm) { return arm.row_key != text; });
    return arms;
  }
  Shard shard;
  if (!read_shard(text, shard)) {
    return std::unexpected(
        fmt::format("--arm-shard: '{}' is neither 'all' nor i/n with 1 <= i <= n nor one of the "
                    "rows {}",
                    text, fmt::join(keys, ", ")));
  }
  std::erase_if(arms, [&](const Arm& arm) {
    const auto row = std::ranges::find(keys, arm.row_key) - keys.begin();
    return static_cast<std::size_t>(row) % shard.count != shard.index - 1;
  });
  return arms;
}

std::vector<std::string> row_keys(std::span<const Arm> arms) {
  std::vector<std::string> keys;
  for (const Arm& arm : arms) {
    if (!std::ranges::contains(keys, arm.row_key)) keys.push_back(arm.row_key);
  }
  return keys;
}

}  // namespace titanium::probe
