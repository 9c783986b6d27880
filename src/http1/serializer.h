// SPDX-License-Identifier: MIT
//
// Writes HTTP/1.1 messages into a chunk queue. What is written depends only on the version-neutral
// members of the head, never on framing fields that a peer sent.
#pragma once

#include <string_view>

#include "base/chunk.h"
#include "http/message.h"
#include "http1/framing.h"

namespace titanium::http1 {

// "METHOD path HTTP/1.1", Host, then the fields in their order without dropped, framing and
// hop-by-hop ones, then what the members of `head` ask for: Content-Length or Transfer-Encoding
// (sized, streamed), Connection/Upgrade, TE: trailers, Expect.
//
// Every text of the head comes from a codec or from configuration and was checked there.
void write_request_head(ChunkQueue& out, const http::RequestHead& head);

enum class AfterResponse : std::uint8_t {
  keep_alive,         // Say nothing: HTTP/1.1 is persistent.
  keep_alive_http10,  // "Connection: keep-alive", for an HTTP/1.0 client that asked for it.
  close,              // "Connection: close".
};

// The framing that the serialiser used for the body; what follows has to be written accordingly.
// `streamed` becomes chunked for an HTTP/1.1 client, until_close for an HTTP/1.0 client (then pass
// AfterResponse::close).
Framing write_response_head(ChunkQueue& out, const http::ResponseHead& head,
                            http::Version client_version, AfterResponse after);

// One chunk with everything that is in `data`, which is empty afterwards. Nothing for empty `data`:
// an empty chunk would end the body.
void write_chunk(ChunkQueue& out, ChunkQueue& data);
// The last chunk and the trailer section, without dropped fields.
void write_last_chunk(ChunkQueue& out, const http::FieldList& trailers);

}  // namespace titanium::http1
