// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "http/message.h"
#include "http1/framing.h"
#include "http1/head_parser.h"

namespace titanium::http1 {

struct BodyLimits {
  std::uint32_t chunk_line_bytes = 4 * 1024;  // Chunk size with its extensions.
  // All chunk extensions of a body together: they carry nothing for us, yet cost work.
  std::uint32_t chunk_extension_bytes = 16 * 1024;
  std::uint64_t chunk_bytes = std::uint64_t{1} << 30;  // One chunk; guards against overflow.
  std::uint32_t trailer_bytes = 16 * 1024;
  std::uint32_t trailer_fields = 100;
};

// Finds the body bytes of one message in the bytes of a connection (RFC 9112 §6, §7), whatever the
// framing. It only looks: the caller owns the bytes, and moves or drops them as told.
class BodyDecoder {
 public:
  // `peer` is who sends this body: the side of errors.
  explicit BodyDecoder(Side peer, BodyLimits limits = {}) : peer_(peer), limits_(limits) {}

  void start(MessageFraming framing);

  // What to do with the front of the input: drop `overhead` bytes, then pass on `data` bytes; after
  // that the body has ended if `done`. All zero: more input is needed; what was not consumed has to
  // be there again, in front.
  struct Step {
    std::size_t overhead = 0;
    std::size_t data = 0;
    bool done = false;
  };

  // Never scans a byte twice but those of an incomplete chunk-size line or trailer section.
  // On `done` of a chunked body, the trailer section is in `trailers` as views into `input`
  // (its bytes are part of `overhead`); fields that may not be trailers are marked dropped.
  //
  // Errors: `protocol` for a bad chunk, `limit` (400 for chunk lines, 413 for a chunk that is too
  // large, 431 for trailers). After an error the connection has to be closed.
  [[nodiscard]] Result<Step> next(std::string_view input, http::FieldList& trailers);

  // The connection ended. Fine for until_close and tunnel (the body is done) and once done();
  // otherwise the message is incomplete (RFC 9112 §8) and this is a `closed` error.
  [[nodiscard]] Result<> end_of_input();

  [[nodiscard]] bool done() const noexcept { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    fixed,
    chunk_size,
    chunk_data,
    chunk_end,
    trailers,
    until_close,
    done,
  };

  [[nodiscard]] Result<Step> next_chunked(std::string_view input, http::FieldList& trailers);
  // Each takes what it is named after off the front of `input` and moves on to the next state.
  // Returns its length, or 0 if it is not complete.
  [[nodiscard]] Result<std::size_t> take_chunk_end(std::string_view input);
  [[nodiscard]] Result<std::size_t> take_chunk_line(std::string_view input);
  [[nodiscard]] Result<std::size_t> take_trailers(std::string_view input,
                                                  http::FieldList& trailers);
  [[nodiscard]] Result<> parse_chunk_line(std::string_view line);
  std::size_t take_data(std::size_t available, State then) noexcept;

  Side peer_;
  State state_ = State::done;
  BodyLimits limits_;
  std::uint64_t remaining_ = 0;  // Of the body (fixed) or of the current chunk.
  std::uint32_t extension_bytes_ = 0;
  LineScanner trailer_scanner_;
};

}  // namespace titanium::http1
