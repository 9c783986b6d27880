// SPDX-License-Identifier: MIT
//
// Field blocks to version-neutral heads and back (RFC 9113 §8). Strict: a proxy that lets a
// malformed HTTP/2 message through writes a different HTTP/1 message than its sender meant.
//
// Upgrade in the version-neutral head is what HTTP/1 says: method GET with `upgrade` set, answered
// by 101. Here it becomes an extended CONNECT with :protocol, answered by 2xx (RFC 8441 §4, §5),
// and the other way round. Whoever speaks to HTTP/1 takes care of Sec-WebSocket-Key and -Accept.
#pragma once

#include <string>

#include "base/error.h"
#include "http/message.h"
#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"

namespace titanium::http2 {

// Fills `head` with views into `block`, which has to live, unmoved, as long as they are used. May
// append to `block` (several cookie lines are joined to one, RFC 9113 §8.2.3).
//
// Body: `none` with `ended`, and with extended CONNECT; `tunnel` with CONNECT; else `sized`
// (content-length) or `streamed`. `accepts_trailers`: as `te` says. Host without :authority becomes
// the authority; both have to agree (§8.3.1). `expects_continue` as in HTTP/1.
//
// Errors: `protocol`, side client: the request is malformed (§8.1.1), a stream error. Among them:
// pseudo-fields that are unknown, repeated, missing, empty, or after regular ones; upper-case or
// otherwise invalid names; CR, LF, NUL or blanks around values (§8.2.1); connection-specific fields
// (§8.2.2); TE other than trailers; content-length that is not one number, or not 0 with `ended`;
// a bad :path, :scheme or :authority; :protocol without `extended_connect`.
// `unsupported`: well-formed, to be answered with error.status (417: an expectation other than
// 100-continue). After any error `head` holds what was found to be good before.
[[nodiscard]] Result<> read_request(FieldBlock& block, bool ended, bool extended_connect,
                                    http::RequestHead& head);

// The same for responses; side origin. `upgraded`: the request was an extended CONNECT; then a 2xx
// becomes 101 with BodyKind::tunnel. Without it, 101 is malformed (§8.6). Body: `none` where status
// and method allow none (declared_length then says what HEAD and 304 declared); with `ended`, 0
// bytes `sized`.
[[nodiscard]] Result<> read_response(FieldBlock& block, bool ended, http::Method request_method,
                                     bool upgraded, http::ResponseHead& head);

// Trailers: no pseudo-fields (§8.1); what may not be a trailer is marked dropped.
[[nodiscard]] Result<> read_trailers(FieldBlock& block, Side peer, http::FieldList& trailers);

// Encodes the block of a head, without dropped, framing and hop-by-hop fields, and with what the
// members of `head` ask for (content-length of a sized body, te: trailers …). Appends to `out`.
void write_request(HpackEncoder& encoder, const http::RequestHead& head, std::string& out);
void write_response(HpackEncoder& encoder, const http::ResponseHead& head, std::string& out);
void write_trailers(HpackEncoder& encoder, const http::FieldList& trailers, std::string& out);

}  // namespace titanium::http2
