// SPDX-License-Identifier: MIT
//
// Message heads as every HTTP version sees them (RFC 9110 §6): what a codec yields and what the
// exchange engine hands to the codec of the other leg. All texts are views into buffers that the
// codec's session keeps alive for as long as the head is in use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/field.h"

namespace titanium::http {

enum class Version : std::uint8_t { http10, http11, http2, http3 };

// RFC 9110 §9.3, RFC 5789 (PATCH). Anything else is `other`, and method_text says what.
enum class Method : std::uint8_t {
  other,
  get,
  head,
  post,
  put,
  delete_,
  connect,
  options,
  trace,
  patch,
};
[[nodiscard]] Method find_method(std::string_view text) noexcept;  // Case-sensitive (§9.1).
// RFC 9110 §9.2.2: sending such a request twice has the effect of sending it once.
[[nodiscard]] bool is_idempotent(Method method) noexcept;

// How much body a message carries, independent of how a version marks its end.
enum class BodyKind : std::uint8_t {
  none,      // No body, and no length was declared.
  sized,     // Exactly `bytes` (which may be 0).
  streamed,  // Ends when it ends: chunked, close-delimited, DATA frames without content-length.
  tunnel,    // Not HTTP any more, until either side closes: 101, 2xx to CONNECT.
};
struct BodySize {
  BodyKind kind = BodyKind::none;
  std::uint64_t bytes = 0;  // Only for `sized`.

  [[nodiscard]] bool is_empty() const noexcept {
    return kind == BodyKind::none || (kind == BodyKind::sized && bytes == 0);
  }
  bool operator==(const BodySize&) const = default;
};

struct RequestHead {
  Version version = Version::http11;
  Method method = Method::get;
  std::string_view method_text;
  std::string_view scheme;     // "http" or "https".
  std::string_view authority;  // host[:port] of Host, :authority or an absolute-form target.
  std::string_view path;       // Path and query as received: "/a?b", or "*" (RFC 9112 §3.2.4).
  BodySize body;
  // The protocols of Upgrade, if Connection names it, or :protocol of an extended CONNECT.
  std::string_view upgrade;
  bool expects_continue = false;  // Expect: 100-continue (RFC 9110 §10.1.1).
  bool accepts_trailers = false;  // TE: trailers (§10.1.4).
  // All fields as received. Serialisers never write Host, Connection, Content-Length,
  // Transfer-Encoding, TE, Upgrade and the other hop-by-hop fields from here, but from the members
  // above, so that what leaves is unambiguous whatever came in.
  FieldList fields;

  void clear() noexcept;
};

struct ResponseHead {
  Version version = Version::http11;
  std::uint16_t status = 0;  // 100-999.
  std::string_view reason;   // HTTP/1 only, may be empty.
  BodySize body;
  // Content-Length of a message without a body: answers to HEAD, and 304 (RFC 9110 §8.6).
  std::optional<std::uint64_t> declared_length;
  std::string_view upgrade;  // Protocol of a 101.
  FieldList fields;

  [[nodiscard]] bool is_interim() const noexcept { return status < 200 && status != 101; }
  void clear() noexcept;
};

// "Not Found" for 404 (RFC 9110 §15 and the IANA registry); empty for codes nobody registered.
[[nodiscard]] std::string_view reason_phrase(std::uint16_t status) noexcept;

// The body a response has, judged by request method and status alone (RFC 9110 §6.4.1): false for
// answers to HEAD, 1xx, 204, 304, and 2xx to CONNECT.
[[nodiscard]] bool may_have_body(Method request_method, std::uint16_t status) noexcept;

// Marks as dropped what must not be forwarded (RFC 9110 §7.6.1): the hop-by-hop fields that we know
// and those that Connection names. Names of fields that are vital for the message itself (Host,
// Content-Length and the like) cannot be removed by naming them in Connection.
void drop_hop_by_hop(FieldList& fields) noexcept;

// RFC 9110 §6.5.1: fields that must not be taken from a trailer section (framing, routing, auth,
// request modifiers, response control).
[[nodiscard]] bool may_be_trailer(const Field& field) noexcept;

}  // namespace titanium::http
