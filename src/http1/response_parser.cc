// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/try.h"
#include "http/scan.h"
#include "http1/field_line.h"
#include "http1/head_parser.h"
#include "http1/refuse.h"

namespace titanium::http1 {
namespace {

std::unexpected<Error> bad(std::string_view what) { return refuse(what, Side::origin); }

// "HTTP/1.x 3DIGIT reason" (RFC 9112 §4). The SP before an empty reason is optional here, because
// real origins leave it out and nothing can be read differently.
Result<> parse_status_line(std::string_view line, http::ResponseHead& head) {
  constexpr std::size_t kStatusAt = kVersionBytes + 1;
  constexpr std::size_t kStatusEnd = kStatusAt + 3;
  if (line.size() < kStatusEnd || line[kVersionBytes] != ' ') return bad("malformed status line");
  TI_TRY_ASSIGN(head.version, parse_version(line.substr(0, kVersionBytes), Side::origin));
  const std::string_view digits = line.substr(kStatusAt, 3);
  if (!std::ranges::all_of(digits, http::is_digit)) return bad("status is not a number");
  head.status = static_cast<std::uint16_t>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 +
                                           (digits[2] - '0'));
  // RFC 9110 §15: nothing else has a meaning, and a client could not tell whether it is final.
  if (head.status < 100 || head.status > 599) return bad("status is not within 100-599");
  if (line.size() == kStatusEnd) return {};
  if (line[kStatusEnd] != ' ') return bad("malformed status line");
  head.reason = line.substr(kStatusEnd + 1);
  return {};
}

http::BodySize body_size(const MessageFraming& framing) {
  switch (framing.framing) {
    case Framing::none:
      return {};
    case Framing::fixed:
      return {.kind = http::BodyKind::sized, .bytes = framing.bytes};
    case Framing::chunked:
    case Framing::until_close:
      return {.kind = http::BodyKind::streamed};
    case Framing::tunnel:
      return {.kind = http::BodyKind::tunnel};
  }
  return {};
}

// RFC 9110 §8.6: what the body would have been. Only HEAD and 304 have one; in 1xx and 204 the
// field must not be, and is lost.
Result<> apply_declared_length(const ConnectionFields& facts, http::ResponseHead& head) {
  if (facts.content_lengths.all().empty() || head.status < 200 || head.status == 204) return {};
  // The framing that a GET would have had yields the length; it has been validated already.
  TI_TRY_ASSIGN(
      const MessageFraming framing,
      response_framing(http::Method::get, 200, facts.content_lengths.all(), {}, head.version));
  head.declared_length = framing.bytes;
  return {};
}

Result<> parse_head(std::string_view buffer, const LineScanner& scanner, http::Method method,
                    http::ResponseHead& head, ConnectionInfo& info) {
  const std::span<const LineScanner::Line> lines = scanner.lines();
  const LineScanner::Line first = lines.front();
  TI_TRY(parse_status_line(buffer.substr(first.begin, first.end - first.begin), head));
  ConnectionFields facts;
  TI_TRY(parse_fields(buffer, lines.subspan(1), Side::origin, head.fields, facts));
  TI_TRY_ASSIGN(const MessageFraming framing,
                response_framing(method, head.status, facts.content_lengths.all(),
                                 facts.transfer_encodings.all(), head.version));
  info.framing = framing.framing;
  head.body = body_size(framing);
  if (framing.framing == Framing::none) TI_TRY(apply_declared_length(facts, head));
  info.persistent = facts.is_persistent(head.version) && framing.framing != Framing::until_close &&
                    framing.framing != Framing::tunnel;
  if (head.status == 101) head.upgrade = facts.upgrade;
  return {};
}

}  // namespace

Result<std::optional<std::size_t>> ResponseParser::parse(std::string_view buffer,
                                                         http::Method request_method,
                                                         http::ResponseHead& head,
                                                         ConnectionInfo& info) {
  TI_TRY_ASSIGN(const bool complete, scanner_.scan(buffer, limits_, Side::origin, true));
  if (!complete) return std::nullopt;
  head.clear();
  info = {};
  TI_TRY(parse_head(buffer, scanner_, request_method, head, info));
  return scanner_.size();
}

void ResponseParser::reset() noexcept { scanner_.reset(); }

}  // namespace titanium::http1
