// SPDX-License-Identifier: MIT
//
// Properties of the body decoder: body, trailers and verdict do not depend on how the bytes arrive,
// nothing is taken that is not there, each step moves on, and llhttp finds the same body.
#include "../../tests/unit/http1/head_text.h"
#include "../../tests/unit/http1/llhttp_oracle.h"
#include "property.h"

namespace titanium::http1 {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

struct Decoded {
  std::string body, trailers;
  bool done = false;
  bool failed = false;
  bool operator==(const Decoded&) const = default;
};

// Small limits, so that inputs of a fuzzer's size reach them.
constexpr BodyLimits kLimits{.chunk_line_bytes = 64,
                             .chunk_extension_bytes = 128,
                             .chunk_bytes = 4096,
                             .trailer_bytes = 128,
                             .trailer_fields = 6};

// Decodes `text` as it arrives in pieces of up to `piece` bytes.
Decoded decode(std::string_view text, std::size_t piece) {
  BodyDecoder decoder(Side::client, kLimits);
  decoder.start({.framing = Framing::chunked});
  Decoded result;
  http::FieldList trailers;
  std::string pending;
  std::size_t taken = 0;
  while (!text.empty() && !decoder.done()) {
    pending.append(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    for (;;) {
      const ExactCopy input(pending);
      const auto step = decoder.next(input.view(), trailers);
      if (!step) {
        result.failed = true;
        return result;
      }
      const std::size_t used = step->overhead + step->data;
      require(used <= pending.size() && step->done == decoder.done());
      result.body += pending.substr(step->overhead, step->data);
      taken += used;
      if (step->done) {
        result.trailers = test::describe(trailers);
        break;
      }
      if (used == 0) break;
      pending.erase(0, used);
    }
  }
  require(result.body.size() <= taken);
  result.done = decoder.done();
  require(decoder.end_of_input().has_value() == result.done);
  return result;
}

void require_same_reading_by_llhttp(std::string_view text) {
  const std::string message =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(text);
  const test::Reading ours = test::read_request(message);
  if (!ours.message_complete) return;
  const test::Reading theirs = test::LlhttpOracle::read(message, HTTP_REQUEST);
  if (test::is_known_difference(ours, theirs, message)) return;
  require(theirs.error.empty() && theirs.message_complete);
  require(ours.body == theirs.body && ours.fields == theirs.fields);
}

}  // namespace
}  // namespace titanium::http1

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.number() % 32;
  const std::string_view text = input.rest();
  const http1::Decoded whole = http1::decode(text, std::max<std::size_t>(text.size(), 1));
  const http1::Decoded pieces = http1::decode(text, piece);
  // What came before an error may have been passed on already, or not.
  fuzz::require(whole.failed == pieces.failed);
  fuzz::require(whole.failed || whole == pieces);
  http1::require_same_reading_by_llhttp(text);
  return 0;
}
