// SPDX-License-Identifier: MIT
#include "http1/field_line.h"

#include <algorithm>

#include "base/try.h"
#include "http/scan.h"
#include "http1/refuse.h"

namespace titanium::http1 {
namespace {

// Says why a line does not start with a name and a colon; `name_end` is where the name stopped.
std::unexpected<Error> refuse_name(std::string_view line, std::size_t name_end, Side peer) {
  // Obsolete line folding (RFC 9112 §5.2) is refused in both directions: a proxy that unfolds and
  // an origin that does not would see different fields.
  if (http::is_blank(line[0])) return refuse("line folding", peer);
  if (name_end == line.size()) return refuse("field line without a colon", peer);
  if (line[name_end] == ':') return refuse("field without a name", peer);
  // RFC 9112 §5.1: blanks there have led to smuggling, and a server must refuse them.
  if (http::is_blank(line[name_end])) return refuse("blank in or after a field name", peer);
  return refuse("bad character in a field name", peer);
}

}  // namespace

Result<> parse_field_line(std::string_view buffer, LineScanner::Line at, Side peer,
                          http::FieldList& fields) {
  const std::string_view line = buffer.substr(at.begin, at.end - at.begin);
  // The CR behind the line ends a name at the latest, so the search may look at the whole buffer,
  // which lets it take large steps.
  const char* const name_end = http::find_token_end(line.data(), buffer.data() + buffer.size());
  const auto colon = static_cast<std::size_t>(name_end - line.data());
  if (colon == 0 || colon >= line.size() || *name_end != ':') {
    return refuse_name(line, std::min(colon, line.size()), peer);
  }
  const std::string_view raw = line.substr(colon + 1);
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = http::trim_blanks(raw);
  // One blank before the value and none behind: the form in which we would write it.
  const bool is_exact = raw.size() == value.size() + 1 && raw.front() == ' ';
  fields.add(name, value,
             is_exact ? buffer.substr(at.begin, at.end + 2 - at.begin) : std::string_view{},
             http::find_known_field(name));
  return {};
}

void ConnectionFields::note(const http::Field& field) noexcept {
  switch (field.known) {
    case http::KnownField::content_length:
      return content_lengths.add(field.value);
    case http::KnownField::transfer_encoding:
      return transfer_encodings.add(field.value);
    case http::KnownField::host:
      return hosts.add(field.value);
    case http::KnownField::connection:
      return note_connection(field.value);
    case http::KnownField::upgrade:
      if (upgrade.empty()) upgrade = field.value;
      return;
    case http::KnownField::te:
      if (http::list_contains(field.value, "trailers")) accepts_trailers = true;
      return;
    case http::KnownField::expect:
      return note_expect(field.value);
    default:
      return;
  }
}

void ConnectionFields::note_connection(std::string_view list) noexcept {
  std::string_view option;
  while (http::next_list_element(list, option)) {
    ++connection_options;
    if (http::equals_ignore_case(option, "close")) has_close = true;
    if (http::equals_ignore_case(option, "keep-alive")) has_keep_alive = true;
    if (http::equals_ignore_case(option, "upgrade")) has_upgrade = true;
  }
}

void ConnectionFields::note_expect(std::string_view list) noexcept {
  std::string_view expectation;
  while (http::next_list_element(list, expectation)) {
    (http::equals_ignore_case(expectation, "100-continue") ? expects_continue : expects_other) =
        true;
  }
}

Result<> parse_fields(std::string_view buffer, std::span<const LineScanner::Line> lines, Side peer,
                      http::FieldList& fields, ConnectionFields& facts) {
  for (const LineScanner::Line line : lines) {
    TI_TRY(parse_field_line(buffer, line, peer, fields));
    const http::Field& field = fields.back();
    if (field.known != http::KnownField::other) facts.note(field);
  }
  if (facts.connection_options > kMaxConnectionOptions) {
    return over_limit("too many options in Connection", peer, 431);
  }
  return {};
}

Result<http::Version> parse_version(std::string_view text, Side peer) {
  if (text.size() != kVersionBytes || !text.starts_with("HTTP/") || text[6] != '.' ||
      !http::is_digit(text[5]) || !http::is_digit(text[7])) {
    return refuse("malformed HTTP version", peer);
  }
  if (text[5] != '1') return refuse("HTTP version is not 1.x", peer, 505);
  return text[7] == '0' ? http::Version::http10 : http::Version::http11;
}

}  // namespace titanium::http1
