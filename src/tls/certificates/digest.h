// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace titanium::tls {

// SHA-1, for the WebSocket accept key only (RFC 6455 §4.2.2); it protects nothing.
[[nodiscard]] std::array<std::uint8_t, 20> sha1(Bytes bytes);

// Base64 with padding and without line breaks (RFC 4648 §4).
[[nodiscard]] std::string base64_encode(Bytes bytes);

}  // namespace titanium::tls
