// SPDX-License-Identifier: MIT
//
// Properties of the URI functions: parts lie within the text and make it up again, what is accepted
// has none of the bytes that end a request line, and normal forms are stable.
#include "http/uri.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace titanium::http {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

std::string rebuilt(const Authority& authority) {
  std::string text =
      authority.is_ipv6 ? "[" + std::string(authority.host) + "]" : std::string(authority.host);
  if (authority.port) text += ":" + std::to_string(*authority.port);
  return text;
}

void check_authority(std::string_view text) {
  const auto authority = parse_authority(text);
  if (!authority) return;
  require(is_printable(text) && !authority->host.empty());
  require(text.find_first_of("/?#@\\") == std::string_view::npos);
  const std::string again_text = rebuilt(*authority);
  const auto again = parse_authority(again_text);
  require(again.has_value());
  require(again->host == authority->host && again->port == authority->port);
  require(again->is_ipv6 == authority->is_ipv6);
}

void check_absolute(std::string_view text) {
  const auto uri = parse_absolute_uri(text);
  if (!uri) return;
  require(is_printable(text));
  require(parse_authority(uri->authority).has_value());
  require(check_origin_form(uri->path).has_value());
  const std::string prefix = std::string(uri->scheme) + "://" + std::string(uri->authority);
  require(text == prefix + std::string(uri->path) || (text == prefix && uri->path == "/"));
}

void check_path(std::string_view text) {
  if (check_origin_form(text)) {
    require(is_printable(text) && text.starts_with('/'));
    const PathAndQuery parts = split_query(text);
    require(parts.path.size() + parts.query.size() + (parts.has_query ? 1 : 0) == text.size());
  }
  std::string once = "left over";
  std::string twice;
  normalize_path(text, once);
  normalize_path(once, twice);
  require(once == twice);
  if (text != "*") require(once.starts_with('/'));
  require(!once.contains("/../") && !once.contains("/./"));
  require(!once.ends_with("/..") && !once.ends_with("/."));
}

}  // namespace
}  // namespace titanium::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  titanium::http::check_authority(text);
  titanium::http::check_absolute(text);
  titanium::http::check_path(text);
  return 0;
}
