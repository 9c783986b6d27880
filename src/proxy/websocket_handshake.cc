// SPDX-License-Identifier: MIT
#include "proxy/websocket_handshake.h"

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "tls/certificates/digest.h"

namespace titanium::proxy {

std::string make_websocket_key() {
  std::array<std::uint8_t, 16> random{};
  // Never fails for so few bytes once the system has started (random(7)).
  [[maybe_unused]] const auto got = ::getrandom(random.data(), random.size(), 0);
  TI_ASSERT(got == static_cast<ssize_t>(random.size()));
  return tls::base64_encode(random);
}

std::string websocket_accept_value(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  return tls::base64_encode(tls::sha1(as_bytes(text)));
}

}  // namespace titanium::proxy
