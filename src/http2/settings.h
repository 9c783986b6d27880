// SPDX-License-Identifier: MIT
//
// SETTINGS of both sides (RFC 9113 §6.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/chunk.h"
#include "http2/frames/frame.h"
#include "http2/options.h"

namespace titanium::http2 {

enum class Role : std::uint8_t { client, server };

// What the peer told us, with the values that hold before it does (§6.5.2).
struct PeerSettings {
  // No limit by the RFC. Before the peer has said so, we rely on what it advises servers to offer.
  std::uint32_t concurrent_streams = 100;
  std::uint32_t initial_window = kDefaultWindow;
  std::uint32_t max_frame_bytes = kDefaultFrameBytes;
  std::uint32_t header_table_bytes = 4096;
  bool extended_connect = false;
  bool received = false;
};

// A value that is not allowed; the connection ends with it.
struct SettingsFault {
  ErrorCode code = ErrorCode::protocol_error;
  std::string_view what;
};

// Applies the payload of a SETTINGS frame, a multiple of 6 bytes, in order (§6.5.3).
[[nodiscard]] std::optional<SettingsFault> apply_settings(Bytes payload, Role own_role,
                                                          PeerSettings& settings) noexcept;

// The one SETTINGS frame that we send.
void write_own_settings(ChunkQueue& out, Role role, const Options& options);

}  // namespace titanium::http2
