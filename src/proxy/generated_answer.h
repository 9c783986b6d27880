// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace titanium::proxy {

// The status that tells a client about `error` (RFC 9110 §15): Error::status if set, else what code
// and side say.
[[nodiscard]] std::uint16_t status_of(const Error& error) noexcept;

// The error type of RFC 9209 §2.3 that fits best.
[[nodiscard]] std::string_view proxy_status_type(const Error& error) noexcept;

// Where the texts of a generated answer live.
struct AnswerTexts {
  std::string proxy_status;
  std::string body;
};

// Fills `head` with a small answer: a text for a human that names the reason, and Proxy-Status
// (RFC 9209) for programs. `where` is the origin's "host:port", or empty. The views in `head` point
// into `texts`, which keeps its memory from answer to answer.
void make_answer(const Error& error, std::string_view proxy_name, std::string_view where,
                 http::ResponseHead& head, AnswerTexts& texts);

}  // namespace titanium::proxy
