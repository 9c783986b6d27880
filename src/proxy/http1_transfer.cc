// SPDX-License-Identifier: MIT
#include "proxy/http1_transfer.h"

#include "base/try.h"
#include "http1/serializer.h"

namespace titanium::proxy {

Result<bool> decode_body(InputBuffer& input, http1::BodyDecoder& decoder, ChunkQueue& out,
                         http::FieldList& trailers) {
  while (!decoder.done()) {
    TI_TRY_ASSIGN(const auto step, decoder.next(input.unread(), trailers));
    input.consume(step.overhead);
    input.move_to(out, step.data);
    if (step.overhead == 0 && step.data == 0 && !step.done) return false;
  }
  return true;
}

void write_body(ChunkQueue& out, http1::Framing framing, ChunkQueue& data) {
  if (framing == http1::Framing::chunked) return http1::write_chunk(out, data);
  while (!data.empty()) out.append_slice(data.take_front());
}

void write_body_end(ChunkQueue& out, http1::Framing framing, const http::FieldList& trailers) {
  if (framing == http1::Framing::chunked) http1::write_last_chunk(out, trailers);
}

}  // namespace titanium::proxy
