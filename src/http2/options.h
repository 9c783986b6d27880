// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "http2/frames/frame.h"
#include "http2/hpack/decoder.h"

namespace titanium::http2 {

// Everything an HTTP/2 connection can be told. Knows nothing of YAML: `config` fills it in, tests
// write it inline. The same struct serves both legs.
//
// A budget is a number of events that a peer may cause beyond what the traffic explains: it is
// refilled continuously over kBudgetPeriod. Going over it ends the connection with GOAWAY
// (ENHANCE_YOUR_CALM).
struct Options {
  // SETTINGS_MAX_CONCURRENT_STREAMS; enforced as advertised.
  // limits.maxConcurrentStreamsPerConnection
  std::uint32_t concurrent_streams = 256;
  // SETTINGS_INITIAL_WINDOW_SIZE: what a peer may send on a stream before we pass it on.
  std::uint32_t stream_window_bytes = 256 * 1024;
  // It is doubled, up to this, while a round trip uses up a whole window and nothing waits inside
  // for whoever takes it: a window bounds what a round trip can carry.
  std::uint32_t largest_stream_window_bytes = 4 * 1024 * 1024;
  // The connection's window: bytes that may wait inside the proxy for all its streams together. It
  // is many times that of a stream, so that a few streams that nobody reads do not stop the others.
  std::uint32_t connection_window_bytes = 4 * 1024 * 1024;
  // By how much it may grow along with its streams, so that the others are left what they had.
  std::uint32_t connection_window_growth_bytes = 12 * 1024 * 1024;
  DecodeLimits fields{};
  DecodeLimits trailers{.list_bytes = 16 * 1024, .fields = 100};
  std::uint32_t header_block_bytes = 256 * 1024;        // limits.maxHttp2CompressedHeaderBlockBytes
  std::uint32_t header_block_frames = 128;              // limits.maxOpenHeaderBlockFrames
  std::chrono::milliseconds header_block_time{10'000};  // limits.maxOpenHeaderBlockDurationSeconds
  // Streams that ended in a reset before the response was complete, whoever sent the RST_STREAM:
  // the peer (rapid reset, CVE-2023-44487), or we because the peer broke a rule (CVE-2025-8671).
  // limits.maxPeerInitiatedIncompleteStreamResets
  // Server role only: an origin can not make us open streams.
  std::uint32_t incomplete_resets = 100;
  std::uint32_t settings_frames = 32;
  // Beyond one for each DATA frame that we sent.
  std::uint32_t pings = 64;
  // DATA without data and without END_STREAM, and the like. Beyond one for each stream.
  std::uint32_t empty_frames = 64;
  std::uint32_t priority_frames = 1024;  // PRIORITY and PRIORITY_UPDATE.
  // Beyond two for each DATA frame that we sent, and two for each KiB of it (one for the stream,
  // one for the connection).
  std::uint32_t window_updates = 4096;
  // Frames of unknown types, and others that change nothing (RST_STREAM of a closed stream, GOAWAY
  // once more).
  std::uint32_t unknown_frames = 1024;
  std::chrono::milliseconds settings_ack_time{10'000};
  // Accept CONNECT with :protocol (RFC 8441), and say so in SETTINGS. Server role only.
  bool extended_connect = true;
};

inline constexpr std::chrono::milliseconds kBudgetPeriod{60'000};

}  // namespace titanium::http2
