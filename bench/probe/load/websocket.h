// SPDX-License-Identifier: MIT
//
// As much of RFC 6455 as echoing messages takes, for both ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace titanium::probe::websocket {

// RFC 6455 §11.8.
enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};
[[nodiscard]] constexpr bool is_control(Opcode opcode) noexcept {
  return static_cast<std::uint8_t>(opcode) >= 8;
}

using Mask = std::array<std::uint8_t, 4>;

struct FrameHeader {
  Opcode opcode = Opcode::binary;
  bool final = true;
  std::optional<Mask> mask{};
  std::uint64_t payload_bytes = 0;
  bool operator==(const FrameHeader&) const = default;
};
// Two bytes, eight of length, four of mask (RFC 6455 §5.2).
inline constexpr std::size_t kMaxHeaderBytes = 14;
// No message of a workload is larger.
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 24;

struct ParsedHeader {
  FrameHeader header;
  std::size_t bytes = 0;
};
// nullopt: not complete. Errors: reserved bits or opcodes, control frames that are long or
// fragmented, a length that is not in its shortest form or over the limit. Whether there has to be
// a mask is for the caller to check (§5.1).
[[nodiscard]] Result<std::optional<ParsedHeader>> parse_header(std::string_view bytes, Side peer);

void append_header(std::string& out, const FrameHeader& header);

// Masking and unmasking are the same (§5.3). `offset`: of bytes[0] within the payload.
void apply_mask(std::span<char> bytes, const Mask& mask, std::uint64_t offset) noexcept;

// Sec-WebSocket-Accept for a Sec-WebSocket-Key (§4.2.2).
[[nodiscard]] std::string accept_of(std::string_view key);

}  // namespace titanium::probe::websocket
