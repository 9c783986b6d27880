// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "cli/demo/answer.h"

namespace titanium::cli::demo {

// Upgrades to a WebSocket that sends each message back, or says what is wrong with the request.
[[nodiscard]] std::unique_ptr<Answer> make_websocket_answer(const Request& request);

}  // namespace titanium::cli::demo
