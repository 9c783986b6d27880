// SPDX-License-Identifier: MIT
#include "http/message.h"

#include <algorithm>
#include <array>

namespace titanium::http {
namespace {

// Bit set of known fields; the enum has less than 32 members (field.h).
constexpr std::uint32_t bits(std::initializer_list<KnownField> fields) {
  std::uint32_t set = 0;
  for (const KnownField field : fields) set |= std::uint32_t{1} << std::to_underlying(field);
  return set;
}
constexpr bool contains(std::uint32_t set, KnownField field) {
  return (set >> std::to_underlying(field) & 1) != 0;
}

// RFC 9110 §7.6.1, and the three fields of proxy authentication (§11.7): they are meant for us, and
// what a proxy and its client agreed on is no business of an origin.
constexpr std::uint32_t kHopByHop = bits({
    KnownField::connection,
    KnownField::http2_settings,
    KnownField::keep_alive,
    KnownField::proxy_authenticate,
    KnownField::proxy_authentication_info,
    KnownField::proxy_authorization,
    KnownField::proxy_connection,
    KnownField::te,
    KnownField::transfer_encoding,
    KnownField::upgrade,
});

// Fields that a sender cannot take away from the next hop by naming them in Connection. Departs
// from the letter of RFC 9110 §7.6.1, which itself says in §7.6.1 that a sender must not name
// fields meant for all recipients: a client could otherwise strip its own address (Forwarded), its
// credentials or a length from a request *after* a filter of ours has looked at them, and the
// origin would see another request than the one that was judged.
constexpr std::uint32_t kVitalKnown = bits({
    KnownField::content_length,
    KnownField::date,
    KnownField::forwarded,
    KnownField::host,
    KnownField::via,
    KnownField::x_forwarded_for,
    KnownField::x_forwarded_host,
    KnownField::x_forwarded_proto,
});
constexpr auto kVitalOther = std::to_array<std::string_view>({
    "authorization",
    "cache-control",
    "cookie",
    "set-cookie",
});
constexpr auto kVitalPrefixes = std::to_array<std::string_view>({"content-", "x-forwarded-"});

bool is_vital(KnownField known, std::string_view name) {
  if (known != KnownField::other) return contains(kVitalKnown, known);
  const auto is_name = [&](std::string_view vital) { return equals_ignore_case(name, vital); };
  const auto has_prefix = [&](std::string_view prefix) {
    return equals_ignore_case(name.substr(0, prefix.size()), prefix);
  };
  return std::ranges::any_of(kVitalOther, is_name) ||
         std::ranges::any_of(kVitalPrefixes, has_prefix);
}

// RFC 9110 §6.5.1, by the reason for which a field must not come in a trailer section.
constexpr std::uint32_t kNoTrailerKnown =
    kHopByHop |
    bits({
        KnownField::content_length, KnownField::trailer,           // Framing.
        KnownField::host, KnownField::via, KnownField::forwarded,  // Routing.
        KnownField::x_forwarded_for, KnownField::x_forwarded_host, KnownField::x_forwarded_proto,
        KnownField::expect,  // Request modifier.
        KnownField::date,    // Response control data.
    });
constexpr auto kNoTrailerOther = std::to_array<std::string_view>({
    // Request modifiers.
    "cache-control",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "max-forwards",
    "pragma",
    "range",
    // Authentication and state.
    "authorization",
    "authentication-info",
    "cookie",
    "set-cookie",
    "www-authenticate",
    // Response control data.
    "age",
    "expires",
    "location",
    "retry-after",
    "vary",
    "warning",
    // How to read the content; too late once it has been read.
    "content-encoding",
    "content-range",
    "content-type",
});

}  // namespace

Method find_method(std::string_view text) noexcept {
  switch (text.size()) {
    case 3:
      if (text == "GET") return Method::get;
      if (text == "PUT") return Method::put;
      break;
    case 4:
      if (text == "POST") return Method::post;
      if (text == "HEAD") return Method::head;
      break;
    case 5:
      if (text == "PATCH") return Method::patch;
      if (text == "TRACE") return Method::trace;
      break;
    case 6:
      if (text == "DELETE") return Method::delete_;
      break;
    case 7:
      if (text == "OPTIONS") return Method::options;
      if (text == "CONNECT") return Method::connect;
      break;
    default:
      break;
  }
  return Method::other;
}

bool is_idempotent(Method method) noexcept {
  switch (method) {
    case Method::get:
    case Method::head:
    case Method::put:
    case Method::delete_:
    case Method::options:
    case Method::trace:
      return true;
    case Method::post:
    case Method::patch:
    case Method::connect:
    case Method::other:
      return false;
  }
  return false;
}

void RequestHead::clear() noexcept {
  version = Version::http11;
  method = Method::get;
  method_text = scheme = authority = path = upgrade = {};
  body = {};
  expects_continue = accepts_trailers = false;
  fields.clear();
}

void ResponseHead::clear() noexcept {
  version = Version::http11;
  status = 0;
  reason = upgrade = {};
  body = {};
  declared_length.reset();
  fields.clear();
}

bool may_have_body(Method request_method, std::uint16_t status) noexcept {
  if (status < 200 || status == 204 || status == 304) return false;
  if (request_method == Method::head) return false;
  return request_method != Method::connect || status >= 300;
}

void drop_hop_by_hop(FieldList& fields) noexcept {
  for (Field& field : fields) {
    if (contains(kHopByHop, field.known)) field.dropped = true;
  }
  if (!fields.has(KnownField::connection)) return;
  for (const Field& field : fields) {
    if (field.known != KnownField::connection) continue;
    std::string_view list = field.value;
    std::string_view name;
    while (next_list_element(list, name)) {
      const KnownField known = find_known_field(name);
      // The most common options; they name no field, or one that is gone already.
      if (contains(kHopByHop, known) || equals_ignore_case(name, "close")) continue;
      if (!is_vital(known, name)) fields.drop(name);
    }
  }
}

bool may_be_trailer(const Field& field) noexcept {
  if (field.known != KnownField::other) return !contains(kNoTrailerKnown, field.known);
  return std::ranges::none_of(
      kNoTrailerOther, [&](std::string_view name) { return equals_ignore_case(field.name, name); });
}

}  // namespace titanium::http
