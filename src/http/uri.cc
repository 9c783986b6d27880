// SPDX-License-Identifier: MIT
#include "http/uri.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/try.h"
#include "http/field.h"
#include "http/scan.h"

namespace titanium::http {
namespace {

// Longest host name in DNS; RFC 3986 §3.2.2 advises the same bound.
constexpr std::size_t kMaxHostBytes = 255;

std::unexpected<Error> bad(std::string_view what) {
  return std::unexpected(
      Error{.code = Code::protocol, .side = Side::client, .status = 400, .what = what});
}

consteval bool unreserved(char c) {
  return scan_detail::is_alnum(c) || scan_detail::is_one_of(c, "-._~");
}
constexpr auto kUnreserved =
    scan_detail::byte_class([](char c) consteval { return unreserved(c); });

// unreserved and sub-delims (RFC 3986 §3.2.2); a percent sign is looked at separately.
constexpr auto kHostBytes = scan_detail::byte_class(
    [](char c) consteval { return unreserved(c) || scan_detail::is_one_of(c, "!$&'()*+,;="); });

// What may stand in a path (RFC 3986 §3.3: pchar and "/"), and what clients are known to send raw:
//
//   " < > [ ] ^ ` { | }   browsers leave some of them alone, curl all of them
//   0x80-0xff             raw UTF-8 (curl, scripts) or Latin-1 (old clients)
//
// They can neither end a request line nor start a query, so parsers cannot disagree about them.
// Never accepted: "#" (fragments stay with the client, RFC 9110 §4.1), and "\", which some origins
// take for "/": then a path that our routes forbid would come to life behind us.
constexpr auto kPathBytes = scan_detail::byte_class([](char c) consteval {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && !scan_detail::is_one_of(c, "#?%\\");
});
// In a query "?" is data, and a backslash separates nothing.
constexpr auto kQueryBytes = scan_detail::byte_class([](char c) consteval {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && !scan_detail::is_one_of(c, "#%");
});

bool is_percent_triple(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && hex_value(text[1]) >= 0 && hex_value(text[2]) >= 0;
}

// Length of the longest prefix made of `bytes` and well-formed percent triples.
std::size_t span_of(std::string_view text, const std::array<bool, 256>& bytes) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (bytes[scan_detail::index(text[at])]) {
      ++at;
    } else if (is_percent_triple(text.substr(at))) {
      at += 3;
    } else {
      break;
    }
  }
  return at;
}

bool is_ipv6(std::string_view text) {
  // inet_pton() stops at a NUL, and with it would the check.
  if (text.find('\0') != std::string_view::npos) return false;
  std::array<char, INET6_ADDRSTRLEN> copy{};
  if (text.size() >= copy.size()) return false;
  std::memcpy(copy.data(), text.data(), text.size());
  in6_addr address;
  return inet_pton(AF_INET6, copy.data(), &address) == 1;
}

// The part behind the host: nothing, ":", or ":" and a port number.
Result<std::optional<std::uint16_t>> parse_port(std::string_view text) {
  if (text.empty() || text == ":") return std::nullopt;
  if (text[0] != ':') return bad("junk behind the host");
  text.remove_prefix(1);
  if (text.size() > 5 || !std::ranges::all_of(text, is_digit)) return bad("port is not a number");
  unsigned port = 0;
  for (const char c : text) port = port * 10 + static_cast<unsigned>(c - '0');
  if (port > 65'535) return bad("port is over 65535");
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Result<Authority> parse_authority(std::string_view text) noexcept {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return bad("IPv6 address is not closed");
    authority.host = text.substr(1, close - 1);
    authority.is_ipv6 = true;
    // IPvFuture (RFC 3986 §3.2.2) and zone ids are refused too: nobody could connect to them.
    if (!is_ipv6(authority.host)) return bad("not an IPv6 address");
    rest = text.substr(close + 1);
  } else {
    const std::size_t length = span_of(text, kHostBytes);
    authority.host = text.substr(0, length);
    if (authority.host.empty()) return bad("host is empty or has a bad character");
    if (length > kMaxHostBytes) return bad("host is too long");
    rest = text.substr(length);
  }
  TI_TRY_ASSIGN(authority.port, parse_port(rest));
  return authority;
}

Result<AbsoluteUri> parse_absolute_uri(std::string_view text) noexcept {
  AbsoluteUri uri;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad("target has no scheme");
  uri.scheme = text.substr(0, colon);
  if (!equals_ignore_case(uri.scheme, "http") && !equals_ignore_case(uri.scheme, "https")) {
    return bad("scheme is neither http nor https");
  }
  std::string_view rest = text.substr(colon + 1);
  if (!rest.starts_with("//")) return bad("URI has no authority");
  rest.remove_prefix(2);

  const std::size_t end = std::min(rest.find_first_of("/?#\\"), rest.size());
  uri.authority = rest.substr(0, end);
  TI_TRY(parse_authority(uri.authority));
  uri.path = rest.substr(end);
  if (uri.path.empty()) {
    uri.path = "/";
    return uri;
  }
  // Stricter than RFC 3986: "http://host?query" would have to be forwarded with a "/" that is not
  // in the text. Clients insert it themselves.
  TI_TRY(check_origin_form(uri.path));
  return uri;
}

Result<> check_origin_form(std::string_view target) noexcept {
  if (!target.starts_with('/')) return bad("target does not start with a slash");
  std::size_t at = span_of(target, kPathBytes);
  if (at < target.size() && target[at] == '?') at += span_of(target.substr(at), kQueryBytes);
  if (at < target.size()) return bad("bad character or percent-encoding in the target");
  return {};
}

PathAndQuery split_query(std::string_view path_and_query) noexcept {
  const std::size_t mark = path_and_query.find('?');
  if (mark == std::string_view::npos) return {.path = path_and_query, .query = {}};
  return {.path = path_and_query.substr(0, mark),
          .query = path_and_query.substr(mark + 1),
          .has_query = true};
}

namespace {

// Appends one character of a path in its normal form and returns how many bytes it took.
std::size_t append_normal(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  if (text[0] != '%') {
    out.push_back(text[0]);
    return 1;
  }
  if (!is_percent_triple(text)) {
    out.append("%25");  // A stray percent sign; as it is, it could become one that is not stray.
    return 1;
  }
  const int byte = hex_value(text[1]) * 16 + hex_value(text[2]);
  if (kUnreserved[static_cast<std::size_t>(byte)]) {
    out.push_back(static_cast<char>(byte));
  } else {
    out.push_back('%');
    out.push_back(kHex[static_cast<std::size_t>(byte / 16)]);
    out.push_back(kHex[static_cast<std::size_t>(byte % 16)]);
  }
  return 3;
}

}  // namespace

void normalize_path(std::string_view path, std::string& out) {
  out.clear();
  if (path == "*") {
    out = path;
    return;
  }
  if (!path.starts_with('/')) out.push_back('/');
  // One segment a turn: it is written in normal form, and taken back if it is a dot segment.
  std::size_t at = 0;
  while (at < path.size()) {
    const bool has_slash = at < path.size() && path[at] == '/';
    const std::size_t start = has_slash ? out.size() : 0;
    if (has_slash) {
      out.push_back('/');
      ++at;
    }
    while (at < path.size() && path[at] != '/') at += append_normal(path.substr(at), out);
    const std::string_view segment = std::string_view(out).substr(start + 1);
    const bool is_dot = segment == ".";
    const bool is_dot_dot = segment == "..";
    if (!is_dot && !is_dot_dot) continue;
    out.resize(start);
    if (is_dot_dot) out.resize(std::min(out.rfind('/'), out.size()));
    if (at == path.size()) out.push_back('/');
  }
}

}  // namespace titanium::http
