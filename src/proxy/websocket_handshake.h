// SPDX-License-Identifier: MIT
//
// What the opening handshake of a WebSocket has in HTTP/1 (RFC 6455 §4) and not in HTTP/2 (RFC 8441
// §5): the key, and the answer to it that proves that the server has understood.
#pragma once

#include <string>
#include <string_view>

namespace titanium::proxy {

// A fresh random value for Sec-WebSocket-Key.
[[nodiscard]] std::string make_websocket_key();

// The value of Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2).
[[nodiscard]] std::string websocket_accept_value(std::string_view key);

}  // namespace titanium::proxy
