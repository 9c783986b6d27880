// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace titanium::http1 {

// How the end of a body is found on an HTTP/1 connection (RFC 9112 §6.3).
enum class Framing : std::uint8_t {
  none,         // There is no body.
  fixed,        // Content-Length.
  chunked,      // Transfer-Encoding: chunked.
  until_close,  // Responses only: everything until the connection ends.
  tunnel,       // 101, or 2xx to CONNECT: the rest of the connection is not HTTP.
};

struct MessageFraming {
  Framing framing = Framing::none;
  std::uint64_t bytes = 0;  // Only for Framing::fixed.
  bool operator==(const MessageFraming&) const = default;
};

// Finds out where a request body ends (RFC 9112 §6.3). Errors: `protocol` (400), `unsupported`
// (501: a coding other than chunked, alone).
[[nodiscard]] Result<MessageFraming> request_framing(
    std::span<const std::string_view> content_lengths,
    std::span<const std::string_view> transfer_encodings, http::Version version);

// The same for a response to `method` with `status`. Side of all errors: origin.
[[nodiscard]] Result<MessageFraming> response_framing(
    http::Method method, std::uint16_t status, std::span<const std::string_view> content_lengths,
    std::span<const std::string_view> transfer_encodings, http::Version version);

}  // namespace titanium::http1
