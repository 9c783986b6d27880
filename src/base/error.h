// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>
#include <type_traits>

namespace titanium {

// Groups failures by what the caller does next, not by which library noticed them.
enum class Code : std::uint8_t {
  protocol,     // The peer broke the protocol: reset the stream or close the connection.
  unsupported,  // Valid, but a feature we do not offer (unknown transfer coding): answer 501.
  tls,          // No secure connection: handshake or certificate verification failed.
  certificate,  // The peer's certificate is not to be trusted, or is for another name.
  limit,        // The peer asked for more than we allow: answer 4xx, or reset.
  closed,       // The peer went away: there is nobody left to tell.
  reset,        // The peer gave up this exchange, and goes on with others.
  refused,      // The peer is well, and left the request untouched: nothing speaks against it.
  timed_out,    // A deadline passed.
  unavailable,  // No origin right now: try another one if `retry` allows.
  loop,         // The request has been here before (RFC 9110 §7.6.3): answer 508.
  config,       // The operator has to act. Seen only at start-up and on reload.
  internal,     // Our bug: counted, logged, connection closed.
};

// The side of the proxy that is at fault. Decides between 4xx and 502.
enum class Side : std::uint8_t { self, client, origin };

// Whether the request may be sent again on another connection (RFC 9110 §9.2.2).
enum class Retry : std::uint8_t { never, if_idempotent, always };

// A failure as a plain value: it never allocates, so the data path may return it freely.
struct Error {
  Code code = Code::internal;
  Side side = Side::self;
  Retry retry = Retry::never;
  std::uint16_t status = 0;  // The HTTP status that fits best, or 0: let code and side decide.
  std::int32_t native = 0;   // The library's own code (errno, OpenSSL reason), or 0.
  std::string_view what;     // A string literal: it must outlive the Error.
};
static_assert(std::is_trivially_copyable_v<Error> && sizeof(Error) <= 32);

template <typename T = void>
using Result = std::expected<T, Error>;

[[nodiscard]] constexpr std::unexpected<Error> protocol_error(std::string_view what, Side side) {
  return std::unexpected(Error{.code = Code::protocol, .side = side, .what = what});
}

// A peer went over a limit; `status` is what to answer if the peer is the client (413, 414, 431).
[[nodiscard]] constexpr std::unexpected<Error> limit_error(std::string_view what, Side side,
                                                           std::uint16_t status) {
  return std::unexpected(Error{.code = Code::limit, .side = side, .status = status, .what = what});
}

}  // namespace titanium
