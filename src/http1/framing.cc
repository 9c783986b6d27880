// SPDX-License-Identifier: MIT
#include "http1/framing.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/try.h"
#include "http/field.h"
#include "http/scan.h"
#include "http1/refuse.h"

namespace titanium::http1 {
namespace {

using Values = std::span<const std::string_view>;

// The one and only Content-Length. RFC 9110 §8.6 lets us collapse identical repeats; we refuse
// them, since the next parser may not agree on what is identical.
Result<std::uint64_t> parse_content_length(Values values, Side peer) {
  if (values.size() > 1) return refuse("more than one Content-Length", peer);
  const std::string_view text = values.front();
  // Not stoull: it skips blanks, takes a sign, and stops quietly at "5, 6".
  if (text.empty() || !std::ranges::all_of(text, http::is_digit)) {
    return refuse("Content-Length is not a number", peer);
  }
  std::uint64_t bytes = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), bytes);
  // Half of the 64 bits: many parsers keep a length in a signed integer, and what is negative there
  // is not what we would forward. 20 digits bound leading zeros as well.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (parsed.ec != std::errc{} || bytes > kMost || text.size() > 20) {
    return refuse("Content-Length is too large", peer);
  }
  return bytes;
}

// Looks at the elements of one Transfer-Encoding line (RFC 9112 §7).
struct Codings {
  std::size_t all = 0;
  std::size_t chunked = 0;
  bool last_is_chunked = false;
  bool well_formed = true;

  void add_line(std::string_view line) {
    // Split at each comma and look at every element, empty ones too: list rules that skip them or
    // that know quoted strings are where parsers differ.
    for (;;) {
      const std::size_t comma = std::min(line.find(','), line.size());
      add(http::trim_blanks(line.substr(0, comma)));
      if (comma == line.size()) return;
      line.remove_prefix(comma + 1);
    }
  }

 private:
  void add(std::string_view coding) {
    ++all;
    const std::string_view name =
        http::trim_blanks(coding.substr(0, std::min(coding.find(';'), coding.size())));
    last_is_chunked = http::equals_ignore_case(name, "chunked");
    if (!http::is_token(name)) well_formed = false;
    if (!last_is_chunked) return;
    ++chunked;
    // RFC 9112 §7.1: parameters of chunked should be treated as an error.
    if (name.size() != coding.size()) well_formed = false;
  }
};

// Succeeds if the only coding is `chunked`.
Result<> check_transfer_encoding(Values values, http::Version version, Side peer) {
  // RFC 9112 §6.1: the framing of such a message is faulty.
  if (version == http::Version::http10) return refuse("Transfer-Encoding in HTTP/1.0", peer);
  if (values.size() == 1 && http::equals_ignore_case(values.front(), "chunked")) return {};
  Codings codings;
  for (const std::string_view line : values) codings.add_line(line);
  if (!codings.well_formed) return refuse("Transfer-Encoding is malformed", peer);
  if (codings.chunked > 1) return refuse("chunked is applied twice", peer);
  // RFC 9112 §6.3 item 4: then nobody can know where the body ends.
  if (codings.chunked == 1 && !codings.last_is_chunked) {
    return refuse("chunked is not the last transfer coding", peer);
  }
  // `chunked` once and alone, but spread over several lines with empty elements, does not get here:
  // an empty element is not well-formed.
  return not_offered("transfer coding other than chunked", peer, 501);
}

// Shared by both directions: the length that fields declare, if they may declare one.
Result<MessageFraming> declared_framing(Values content_lengths, Values transfer_encodings,
                                        http::Version version, Side peer, Framing otherwise) {
  if (!transfer_encodings.empty()) {
    // RFC 9112 §6.1 lets us drop Content-Length here. We refuse instead: the two together have no
    // honest use and are the classic smuggling probe (§11.2).
    if (!content_lengths.empty()) {
      return refuse("both Content-Length and Transfer-Encoding", peer);
    }
    TI_TRY(check_transfer_encoding(transfer_encodings, version, peer));
    return MessageFraming{.framing = Framing::chunked};
  }
  if (content_lengths.empty()) return MessageFraming{.framing = otherwise};
  TI_TRY_ASSIGN(const std::uint64_t bytes, parse_content_length(content_lengths, peer));
  return MessageFraming{.framing = Framing::fixed, .bytes = bytes};
}

}  // namespace

Result<MessageFraming> request_framing(Values content_lengths, Values transfer_encodings,
                                       http::Version version) {
  return declared_framing(content_lengths, transfer_encodings, version, Side::client,
                          Framing::none);
}

Result<MessageFraming> response_framing(http::Method method, std::uint16_t status,
                                        Values content_lengths, Values transfer_encodings,
                                        http::Version version) {
  // Checked for every response, so that nonsense is refused even where it would be ignored.
  TI_TRY_ASSIGN(const MessageFraming declared,
                declared_framing(content_lengths, transfer_encodings, version, Side::origin,
                                 Framing::until_close));
  // RFC 9112 §6.3 items 1 and 2, in the order of the RFC but for HEAD, which CONNECT is not.
  const bool is_connect_success = method == http::Method::connect && status >= 200 && status < 300;
  // RFC 9112 §6.1: a server MUST NOT send Transfer-Encoding with 1xx and 204. If one does, it may
  // also send the chunks. (A successful answer to CONNECT: §6.1 as well, yet RFC 9110 §9.3.6 tells
  // clients to ignore the field there.)
  if (!transfer_encodings.empty() && (status < 200 || (status == 204 && !is_connect_success))) {
    return refuse("Transfer-Encoding in a response without body", Side::origin);
  }
  if (status == 101 || is_connect_success) return MessageFraming{.framing = Framing::tunnel};
  if (!http::may_have_body(method, status)) return MessageFraming{};
  return declared;
}

}  // namespace titanium::http1
