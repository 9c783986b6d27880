// SPDX-License-Identifier: MIT
//
// The steps that the sessions of both legs share: reading a body off a connection and writing one.
#pragma once

#include "base/chunk.h"
#include "base/error.h"
#include "http/message.h"
#include "http1/body_decoder.h"
#include "http1/framing.h"
#include "proxy/input_buffer.h"

namespace titanium::proxy {

// Bytes that a session reads in one turn before others get theirs.
inline constexpr std::size_t kReadBudgetBytes = 256 * 1024;

// Moves what can be decoded from `input` to `out`. True once the body has ended; its trailers are
// then views into the chunk of `input`.
[[nodiscard]] Result<bool> decode_body(InputBuffer& input, http1::BodyDecoder& decoder,
                                       ChunkQueue& out, http::FieldList& trailers);

// Queues body bytes in the framing that the head announced. `data` is empty afterwards.
void write_body(ChunkQueue& out, http1::Framing framing, ChunkQueue& data);
void write_body_end(ChunkQueue& out, http1::Framing framing, const http::FieldList& trailers);

}  // namespace titanium::proxy
