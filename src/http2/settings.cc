// SPDX-License-Identifier: MIT
#include "http2/settings.h"

#include <array>
#include <limits>

namespace titanium::http2 {
namespace {

constexpr std::size_t kSettingBytes = 6;

std::uint32_t u32_at(Bytes bytes, std::size_t at) noexcept {
  return (std::uint32_t{bytes[at]} << 24) | (std::uint32_t{bytes[at + 1]} << 16) |
         (std::uint32_t{bytes[at + 2]} << 8) | bytes[at + 3];
}

std::optional<SettingsFault> fault(std::string_view what,
                                   ErrorCode code = ErrorCode::protocol_error) {
  return SettingsFault{.code = code, .what = what};
}

std::optional<SettingsFault> apply(Setting setting, Role own_role, PeerSettings& peer) noexcept {
  const std::uint32_t value = setting.value;
  switch (setting.id) {
    case SettingId::header_table_size:
      peer.header_table_bytes = value;
      return std::nullopt;
    case SettingId::enable_push:
      // RFC 9113 §6.5.2: only clients may say 1.
      if (value > 1 || (value == 1 && own_role == Role::client)) return fault("bad ENABLE_PUSH");
      return std::nullopt;
    case SettingId::max_concurrent_streams:
      peer.concurrent_streams = value;
      return std::nullopt;
    case SettingId::initial_window_size:
      if (value > kLargestWindow) {
        return fault("INITIAL_WINDOW_SIZE is over 2^31-1", ErrorCode::flow_control_error);
      }
      peer.initial_window = value;
      return std::nullopt;
    case SettingId::max_frame_size:
      if (value < kDefaultFrameBytes || value > kLargestFrameBytes) {
        return fault("bad MAX_FRAME_SIZE");
      }
      peer.max_frame_bytes = value;
      return std::nullopt;
    case SettingId::enable_connect_protocol:
      // RFC 8441 §3: 0 or 1, and never back to 0.
      if (value > 1 || (value == 0 && peer.extended_connect)) {
        return fault("bad ENABLE_CONNECT_PROTOCOL");
      }
      peer.extended_connect = value == 1;
      return std::nullopt;
    case SettingId::no_rfc7540_priorities:
      if (value > 1) return fault("bad NO_RFC7540_PRIORITIES");  // RFC 9218 §2.1.
      return std::nullopt;
    case SettingId::max_header_list_size:  // Advice only; whoever is over it gets the peer's error.
      return std::nullopt;
  }
  return std::nullopt;  // Unknown: ignored (RFC 9113 §6.5.2).
}

}  // namespace

std::optional<SettingsFault> apply_settings(Bytes payload, Role own_role,
                                            PeerSettings& settings) noexcept {
  if (!settings.received) {
    settings.received = true;
    settings.concurrent_streams = std::numeric_limits<std::uint32_t>::max();
  }
  for (; payload.size() >= kSettingBytes; payload = payload.subspan(kSettingBytes)) {
    const auto id = static_cast<std::uint16_t>((payload[0] << 8) | payload[1]);
    const Setting setting{.id = static_cast<SettingId>(id), .value = u32_at(payload, 2)};
    if (const auto bad = apply(setting, own_role, settings)) return bad;
  }
  return std::nullopt;
}

void write_own_settings(ChunkQueue& out, Role role, const Options& options) {
  std::array<Setting, 5> settings;
  std::size_t count = 0;
  const auto add = [&](SettingId id, std::uint32_t value) {
    settings[count++] = {.id = id, .value = value};
  };
  add(SettingId::initial_window_size, options.stream_window_bytes);
  add(SettingId::max_header_list_size, static_cast<std::uint32_t>(options.fields.list_bytes));
  add(SettingId::no_rfc7540_priorities, 1);
  if (role == Role::client) {
    add(SettingId::enable_push, 0);
  } else {
    add(SettingId::max_concurrent_streams, options.concurrent_streams);
    if (options.extended_connect) add(SettingId::enable_connect_protocol, 1);
  }
  write_settings(out, std::span(settings).first(count));
}

}  // namespace titanium::http2
