// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "cli/demo/answer.h"

namespace titanium::cli::demo {

// "/slow?ms=N": an answer after N ms (1000; at most 60 000).
[[nodiscard]] std::unique_ptr<Answer> make_slow_answer(std::string_view query);

// "/chunked?n=K&ms=M": K chunks (5), M ms (100) apart, and a trailer field with their number.
[[nodiscard]] std::unique_ptr<Answer> make_chunked_answer(std::string_view query);

// "/events?n=K&ms=M": server-sent events, M ms (1000) apart, K of them or without end.
[[nodiscard]] std::unique_ptr<Answer> make_events_answer(std::string_view query);

}  // namespace titanium::cli::demo
