// SPDX-License-Identifier: MIT
#include "config/text_values.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "base/ascii.h"
#include "config/diagnostic.h"
#include "http/field.h"
#include "http/uri.h"

namespace titanium::config {
namespace {

using Checked = std::expected<std::string, TextProblem>;

std::unexpected<TextProblem> bad(std::string message, std::string hint = {}) {
  return std::unexpected(TextProblem{.message = std::move(message), .hint = std::move(hint)});
}

// The canonical form of an IP literal, with or without brackets.
std::optional<std::string> parse_ip(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    if (!text.contains(':')) return std::nullopt;
  }
  const std::string literal(text);
  in6_addr address{};  // Large enough for both families.
  char canonical[INET6_ADDRSTRLEN];
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, literal.c_str(), &address) == 1 && !text.contains('\0')) {
      return inet_ntop(family, &address, canonical, sizeof canonical);
    }
  }
  return std::nullopt;
}

Checked check_host(std::string_view text) {
  if (auto ip = parse_ip(text)) return *std::move(ip);
  if (text.contains("://")) {
    return bad(fmt::format("{} is a URL, not a host", in_quotes(text)),
               "write the name only; port and TLS have keys of their own");
  }
  const auto authority = http::parse_authority(text);
  if (!authority) return bad(fmt::format("{} is not a valid host", in_quotes(text)));
  if (authority->port || text.ends_with(':')) {
    return bad(fmt::format("{} has a port", in_quotes(text)), "write the host without it");
  }
  // Digits and dots only would be an IPv4 address, and it is not a valid one.
  if (text.find_first_not_of("0123456789.") == std::string_view::npos) {
    return bad(fmt::format("{} is not a valid IP address", in_quotes(text)));
  }
  return lower_case(text);
}

Checked check_host_pattern(std::string_view text) {
  if (text == "*") return bad("'*' is not a host", "leave the host out to match every host");
  const bool is_wildcard = text.starts_with("*.");
  const std::string_view name = is_wildcard ? text.substr(2) : text;
  if (name.contains('*')) {
    return bad(fmt::format("{} has a '*' that is not its first label", in_quotes(text)),
               "a wildcard is written '*.example.com'");
  }
  Checked host = check_host(name);
  if (host && is_wildcard) return "*." + *host;
  return host;
}

Checked check_bind_address(std::string_view text) {
  if (text == "*") return "0.0.0.0";
  if (http::equals_ignore_case(text, "localhost")) return "127.0.0.1";
  if (auto ip = parse_ip(text)) return *std::move(ip);
  return bad(fmt::format("{} is not an IP address", in_quotes(text)),
             "write the address of an interface, or '*' for all");
}

Checked check_endpoint(std::string_view text) {
  constexpr std::string_view kDnsPort = "53";
  std::string_view host = text;
  std::string_view port = kDnsPort;
  // A bare IPv6 address has several colons and no port.
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos && !parse_ip(text)) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  const auto ip = parse_ip(host);
  if (!ip || (ip->contains(':') && port != kDnsPort && !host.starts_with('['))) {
    return bad(fmt::format("{} is not an IP address with or without a port", in_quotes(text)));
  }
  if (const auto number = parse_integer(port, 1, 65535); !number)
    return bad(number.error().message);
  return ip->contains(':') ? fmt::format("[{}]:{}", *ip, port) : fmt::format("{}:{}", *ip, port);
}

Checked check_path(std::string_view text) {
  if (!text.starts_with('/'))
    return bad(fmt::format("{} does not start with '/'", in_quotes(text)));
  if (text.contains('?')) {
    return bad(fmt::format("{} has a query", in_quotes(text)), "use the key 'query' for it");
  }
  return std::string(text);
}

Checked check_method(std::string_view text) {
  if (!http::is_token(text)) return bad(fmt::format("{} is not a method", in_quotes(text)));
  if (std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; })) {
    std::string upper(text);
    std::ranges::transform(upper, upper.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return bad(fmt::format("{} has small letters, and methods are case-sensitive", in_quotes(text)),
               fmt::format("write '{}'", upper));
  }
  return std::string(text);
}

std::filesystem::path resolve(std::string_view text, const std::filesystem::path& base_folder) {
  return (base_folder / std::filesystem::path(text)).lexically_normal();
}

// File names are never cut: their end is what matters.
std::string file_name(const std::filesystem::path& path) {
  return in_quotes(path.native(), path.native().size());
}

Checked check_input_file(std::string_view text, const std::filesystem::path& base_folder) {
  const auto path = resolve(text, base_folder);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return bad(fmt::format("the file {} does not exist", file_name(path)));
  }
  if (std::filesystem::is_directory(status)) {
    return bad(fmt::format("{} is a folder, not a file", file_name(path)));
  }
  return path.native();
}

Checked check_output_file(std::string_view text, const std::filesystem::path& base_folder) {
  const auto path = resolve(text, base_folder);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return bad(fmt::format("{} is a folder, not a file", file_name(path)));
  }
  if (!std::filesystem::is_directory(path.parent_path(), error)) {
    return bad(fmt::format("the folder {} does not exist", file_name(path.parent_path())));
  }
  return path.native();
}

template <typename Number>
std::expected<Number, TextProblem> parse_in_range(std::string_view text, std::int64_t min,
                                                  std::int64_t max, std::string_view what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole_text = end == text.data() + text.size() && !text.empty();
  if (is_whole_text && error == std::errc::result_out_of_range) {
    return bad(fmt::format("{} is out of range ({} to {})", text.substr(0, 40), min, max));
  }
  if (!is_whole_text || error != std::errc{}) {
    return bad(fmt::format("{} is not {}", in_quotes(text), what));
  }
  // Written so that "nan" fails, too.
  if (!(value >= static_cast<Number>(min) && value <= static_cast<Number>(max))) {
    return bad(fmt::format("{} is out of range ({} to {})", text.substr(0, 40), min, max));
  }
  return value;
}

}  // namespace

std::expected<std::string, TextProblem> check_text(Type type, std::string_view text,
                                                   const std::filesystem::path& base_folder) {
  if (text.empty() && type != Type::token && type != Type::text_pairs) {
    return bad("must not be empty");
  }
  if (text.contains('\0')) return bad("has a NUL byte");
  switch (type) {
    case Type::token:
      if (!text.empty() && !http::is_token(text)) {
        return bad(fmt::format("{} is not a token", in_quotes(text)),
                   "letters, digits and !#$%&'*+-.^_`|~ are allowed");
      }
      return std::string(text);
    case Type::host:
      return check_host(text);
    case Type::host_pattern:
    case Type::host_patterns:
      return check_host_pattern(text);
    case Type::bind_address:
      return check_bind_address(text);
    case Type::endpoint:
      return check_endpoint(text);
    case Type::path:
      return check_path(text);
    case Type::method:
    case Type::methods:
      return check_method(text);
    case Type::input_file:
      return check_input_file(text, base_folder);
    case Type::output_file:
      return check_output_file(text, base_folder);
    default:
      return std::string(text);
  }
}

std::expected<bool, TextProblem> parse_boolean(std::string_view text) {
  for (const std::string_view word : {"true", "yes", "on"}) {
    if (http::equals_ignore_case(text, word)) return true;
  }
  for (const std::string_view word : {"false", "no", "off"}) {
    if (http::equals_ignore_case(text, word)) return false;
  }
  return bad(fmt::format("{} is not true or false", in_quotes(text)));
}

std::expected<std::int64_t, TextProblem> parse_integer(std::string_view text, std::int64_t min,
                                                       std::int64_t max) {
  return parse_in_range<std::int64_t>(text, min, max, type_name(Type::integer));
}

std::expected<double, TextProblem> parse_number(std::string_view text, std::int64_t min,
                                                std::int64_t max) {
  return parse_in_range<double>(text, min, max, type_name(Type::number));
}

std::string_view type_name(Type type) noexcept {
  switch (type) {
    case Type::section:
      return "a block of keys";
    case Type::sections:
      return "a list of blocks";
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "a whole number";
    case Type::number:
      return "a number";
    case Type::seconds:
      return "a number of seconds";
    case Type::words:
    case Type::host_patterns:
    case Type::methods:
      return "a list of texts";
    case Type::header_pairs:
    case Type::text_pairs:
      return "a block of names and values";
    default:
      return "a text";
  }
}

bool is_pkcs12(std::string_view path) noexcept {
  for (const std::string_view suffix : {".pfx", ".p12"}) {
    if (path.size() > suffix.size() &&
        http::equals_ignore_case(path.substr(path.size() - suffix.size()), suffix)) {
      return true;
    }
  }
  return false;
}

}  // namespace titanium::config
