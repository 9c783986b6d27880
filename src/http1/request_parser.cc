// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/try.h"
#include "http/scan.h"
#include "http/uri.h"
#include "http1/field_line.h"
#include "http1/head_parser.h"
#include "http1/refuse.h"

namespace titanium::http1 {
namespace {

// The longest registered method has 17 bytes (RFC 4437).
constexpr std::size_t kMaxMethodBytes = 64;

std::unexpected<Error> bad(std::string_view what, std::uint16_t status = 400) {
  return refuse(what, Side::client, status);
}

// "METHOD target HTTP/1.x" with exactly one SP each (RFC 9112 §3). Stricter than §3 lets us be:
// whoever splits at other blanks, or at more of them, sees another target.
Result<std::string_view> parse_request_line(std::string_view line, http::RequestHead& head) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return bad("request line without a target");
  head.method_text = line.substr(0, space);
  if (!http::is_token(head.method_text)) return bad("method is not a token");
  if (head.method_text.size() > kMaxMethodBytes) return bad("method is too long");
  head.method = http::find_method(head.method_text);

  const std::string_view rest = line.substr(space + 1);
  if (rest.size() < kVersionBytes + 2 || rest[rest.size() - kVersionBytes - 1] != ' ') {
    return bad("malformed request line");
  }
  TI_TRY_ASSIGN(head.version,
                parse_version(rest.substr(rest.size() - kVersionBytes), Side::client));
  return rest.substr(0, rest.size() - kVersionBytes - 1);
}

constexpr std::uint16_t default_port(std::string_view scheme) {
  return scheme == "https" ? 443 : 80;
}

// Whether Host says the same as the authority of the target, ignoring case and a default port.
bool is_same_authority(const http::Authority& host, const http::Authority& target,
                       std::uint16_t port) {
  return http::equals_ignore_case(host.host, target.host) &&
         host.port.value_or(port) == target.port.value_or(port);
}

// The four forms of a target (RFC 9112 §3.2). Sets scheme, path, and authority if the target has
// one.
Result<> parse_target(std::string_view target, http::RequestHead& head) {
  head.scheme = "http";
  if (head.method == http::Method::connect) {  // authority-form
    TI_TRY_ASSIGN(const http::Authority authority, http::parse_authority(target));
    if (!authority.port) return bad("CONNECT target without a port");
    head.authority = target;
    return {};
  }
  if (target.starts_with('/')) {  // origin-form
    head.path = target;
    return http::check_origin_form(target);
  }
  if (target == "*") {  // asterisk-form
    if (head.method != http::Method::options) return bad("target * without OPTIONS");
    head.path = target;
    return {};
  }
  TI_TRY_ASSIGN(const http::AbsoluteUri uri, http::parse_absolute_uri(target));
  if (uri.scheme.size() == 5) head.scheme = "https";
  head.authority = uri.authority;
  // RFC 9112 §3.2.4: OPTIONS without any path asks about the server as a whole.
  const bool has_path =
      uri.authority.data() + uri.authority.size() != target.data() + target.size();
  head.path = has_path || head.method != http::Method::options ? uri.path : "*";
  return {};
}

// RFC 9112 §3.2: exactly one valid Host, at most none in HTTP/1.0.
Result<> apply_host(std::span<const std::string_view> hosts, http::RequestHead& head) {
  if (hosts.size() > 1) return bad("more than one Host");
  if (hosts.empty()) {
    if (head.version != http::Version::http10) return bad("no Host");
    return {};
  }
  const auto host = http::parse_authority(hosts.front());
  if (!host) return bad("Host is not valid");
  if (head.authority.empty()) {
    head.authority = hosts.front();
    return {};
  }
  // RFC 9112 §3.2.2 tells us to ignore Host if the target is absolute. Stricter: a request whose
  // two names differ is refused, because it reaches another site wherever that rule is not known.
  TI_TRY_ASSIGN(const http::Authority target, http::parse_authority(head.authority));
  // Clients often leave the port of CONNECT out of Host.
  const std::uint16_t port =
      head.method == http::Method::connect ? target.port.value_or(0) : default_port(head.scheme);
  if (!is_same_authority(*host, target, port)) return bad("Host differs from the target");
  return {};
}

// Upgrade is for HTTP/1.1 (RFC 9110 §7.8) and only if Connection names it. `h2c` is not passed on:
// RFC 9113 §3.1 took it out of use, and an origin that still accepts it would open a tunnel in
// which requests pass all our rules by.
std::string_view upgrade_of(const ConnectionFields& facts, http::Version version) {
  if (version == http::Version::http10 || !facts.has_upgrade) return {};
  std::string_view list = facts.upgrade;
  std::string_view protocol;
  while (http::next_list_element(list, protocol)) {
    const std::string_view name = protocol.substr(0, protocol.find('/'));
    if (http::equals_ignore_case(name, "h2c")) return {};
  }
  return facts.upgrade;
}

Result<> apply_body(const ConnectionFields& facts, http::RequestHead& head, ConnectionInfo& info) {
  TI_TRY_ASSIGN(
      const MessageFraming framing,
      request_framing(facts.content_lengths.all(), facts.transfer_encodings.all(), head.version));
  info.framing = framing.framing;
  switch (framing.framing) {
    case Framing::fixed:
      head.body = {.kind = http::BodyKind::sized, .bytes = framing.bytes};
      break;
    case Framing::chunked:
      head.body = {.kind = http::BodyKind::streamed};
      break;
    default:
      break;
  }
  if (head.method == http::Method::connect) {
    // RFC 9110 §9.3.6: no defined meaning, so the next hop may take it for tunnelled bytes.
    if (!head.body.is_empty()) return bad("CONNECT with a body");
    info.framing = Framing::tunnel;
    info.persistent = false;
    head.body = {.kind = http::BodyKind::tunnel};
  }
  return {};
}

Result<> apply_expect(const ConnectionFields& facts, http::RequestHead& head) {
  // RFC 9110 §10.1.1: to be ignored in HTTP/1.0.
  if (head.version == http::Version::http10) return {};
  if (facts.expects_other) return not_offered("unknown expectation", Side::client, 417);
  // Without a body there is nothing to wait for.
  head.expects_continue =
      facts.expects_continue && !head.body.is_empty() && head.body.kind != http::BodyKind::tunnel;
  return {};
}

Result<> parse_head(std::string_view buffer, const LineScanner& scanner, http::RequestHead& head,
                    ConnectionInfo& info) {
  const std::span<const LineScanner::Line> lines = scanner.lines();
  const LineScanner::Line first = lines.front();
  TI_TRY_ASSIGN(const std::string_view target,
                parse_request_line(buffer.substr(first.begin, first.end - first.begin), head));
  TI_TRY(parse_target(target, head));
  ConnectionFields facts;
  TI_TRY(parse_fields(buffer, lines.subspan(1), Side::client, head.fields, facts));
  TI_TRY(apply_host(facts.hosts.all(), head));
  info.persistent = facts.is_persistent(head.version);
  TI_TRY(apply_body(facts, head, info));
  TI_TRY(apply_expect(facts, head));
  head.upgrade = upgrade_of(facts, head.version);
  head.accepts_trailers = facts.accepts_trailers;
  return {};
}

}  // namespace

Result<std::optional<std::size_t>> RequestParser::parse(std::string_view buffer,
                                                        http::RequestHead& head,
                                                        ConnectionInfo& info) {
  TI_TRY_ASSIGN(const bool complete, scanner_.scan(buffer, limits_, Side::client, true));
  if (!complete) return std::nullopt;
  head.clear();
  info = {};
  TI_TRY(parse_head(buffer, scanner_, head, info));
  return scanner_.size();
}

void RequestParser::reset() noexcept { scanner_.reset(); }

bool RequestParser::has_started() const noexcept { return !scanner_.lines().empty(); }

}  // namespace titanium::http1
