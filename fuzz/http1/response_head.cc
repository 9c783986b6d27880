// SPDX-License-Identifier: MIT
//
// Properties of the response parser: the result does not depend on how the bytes arrive, and what
// is accepted and written again is the same response, for clients of both versions.
#include "../../tests/unit/http1/head_text.h"
#include "property.h"

namespace titanium::http1 {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

std::string outcome(const Result<std::optional<std::size_t>>& length,
                    const http::ResponseHead& head, const ConnectionInfo& info) {
  if (!length) return test::describe(length.error());
  if (!length->has_value()) return "incomplete";
  return std::to_string(**length) + test::describe(head) + test::describe(head.fields) +
         std::to_string(std::to_underlying(info.framing)) + (info.persistent ? "p" : "c");
}

std::string parse_in_two(std::string_view text, http::Method method, std::size_t cut) {
  ResponseParser parser;
  http::ResponseHead head;
  ConnectionInfo info;
  {
    const ExactCopy first(text.substr(0, cut));
    const auto length = parser.parse(first.view(), method, head, info);
    if (!length || length->has_value()) return outcome(length, head, info);
  }
  const ExactCopy whole(text);
  const auto length = parser.parse(whole.view(), method, head, info);
  return outcome(length, head, info);
}

void require_round_trip(const http::ResponseHead& head, http::Method method,
                        http::Version client_version) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  const Framing framing =
      write_response_head(queue, head, client_version, AfterResponse::keep_alive);
  const std::string written = test::contents(queue);
  const auto again = test::parse_response(written, method);
  require(again.length.has_value() && *again.length == written.size());
  require(again.info.framing == framing);
  require(again.head.status == head.status && again.head.body == head.body);
  require(again.head.declared_length == head.declared_length);
  // An upgrade without the name of a protocol is nothing that could be written.
  if (head.status == 101) require(again.head.upgrade == head.upgrade);
}

}  // namespace
}  // namespace titanium::http1

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  constexpr http::Method kMethods[] = {http::Method::get, http::Method::head, http::Method::connect,
                                       http::Method::post};
  fuzz::Input input(data, size);
  const http::Method method = kMethods[input.number() % std::size(kMethods)];
  const std::size_t cut = input.number() * 256 + input.number();
  const fuzz::ExactCopy text(input.rest());

  const auto parsed = http1::test::parse_response(text.view(), method);
  const std::string whole = http1::outcome(parsed.length, parsed.head, parsed.info);
  const std::size_t at = cut % (text.view().size() + 1);
  fuzz::require(http1::parse_in_two(text.view(), method, at) == whole);

  if (!parsed.length || !parsed.length->has_value()) return 0;
  fuzz::require(**parsed.length <= text.view().size());
  for (const auto version : {http::Version::http10, http::Version::http11}) {
    http1::require_round_trip(parsed.head, method, version);
  }
  return 0;
}
