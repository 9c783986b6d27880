// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/demo/answer.h"

namespace titanium::cli::demo {

// Upgrades to a WebSocket that sends each message back, or says what is wrong with the request.
[[nodiscard]] std::unique_ptr<Answer> make_websocket_answer(const Request& request);

// The value of Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2).
[[nodiscard]] std::string websocket_accept_value(std::string_view key);

}  // namespace titanium::cli::demo
