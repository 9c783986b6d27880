// SPDX-License-Identifier: MIT
//
// URI pieces that HTTP messages carry (RFC 3986, RFC 9110 §4.2). Views, no normalisation: a proxy
// forwards what it got; whoever compares paths (route) normalises a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace titanium::http {

struct Authority {
  std::string_view host;              // Without the brackets of an IPv6 literal.
  std::optional<std::uint16_t> port;  // Absent if the text has none, or an empty one ("a:").
  bool is_ipv6 = false;
};

// host [":" port], host being a reg-name, an IPv4 address or a bracketed IPv6 address. Refuses
// userinfo, empty hosts, blanks, control bytes, bad percent-encoding, ports over 65535.
[[nodiscard]] Result<Authority> parse_authority(std::string_view text) noexcept;

struct AbsoluteUri {
  std::string_view scheme;     // As written; compare ignoring case.
  std::string_view authority;  // Checked with parse_authority(). Userinfo is refused (§4.2.4).
  std::string_view path;       // Path and query; "/" if the URI has no path; no fragment.
};

// absolute-form of RFC 9112 §3.2.2, http and https only.
[[nodiscard]] Result<AbsoluteUri> parse_absolute_uri(std::string_view text) noexcept;

// origin-form of RFC 9112 §3.2.1: starts with "/", only characters of RFC 3986 path and query plus
// those that clients are known to send raw (see the table in uri.cc); no fragment, no control
// bytes, no blanks; a percent sign must be followed by two hex digits.
[[nodiscard]] Result<> check_origin_form(std::string_view target) noexcept;

// Splits "/a/b?c=d" into "/a/b" and "c=d" (without the question mark).
struct PathAndQuery {
  std::string_view path;
  std::string_view query;
  bool has_query = false;
};
[[nodiscard]] PathAndQuery split_query(std::string_view path_and_query) noexcept;

// Path for comparisons: percent-decoded where that cannot change the meaning (RFC 3986 §6.2.2.2),
// dot segments removed (§5.2.4), "//" kept. Appends to `out`, which is cleared first.
void normalize_path(std::string_view path, std::string& out);

}  // namespace titanium::http
