// SPDX-License-Identifier: MIT
//
// Properties of the request parser: the result does not depend on how the bytes arrive; what is
// accepted and written again is the same request; llhttp reads what we accept in the same way.
#include "../../tests/unit/http1/head_text.h"
#include "../../tests/unit/http1/llhttp_oracle.h"
#include "property.h"

namespace titanium::http1 {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

// What a parser said, as one text.
std::string outcome(const Result<std::optional<std::size_t>>& length, const http::RequestHead& head,
                    const ConnectionInfo& info) {
  if (!length) return test::describe(length.error());
  if (!length->has_value()) return "incomplete";
  return std::to_string(**length) + test::describe(head) + test::describe(head.fields) +
         std::to_string(std::to_underlying(info.framing)) + (info.persistent ? "p" : "c");
}

std::string parse_in_two(std::string_view text, std::size_t cut) {
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  {
    const ExactCopy first(text.substr(0, cut));
    const auto length = parser.parse(first.view(), head, info);
    if (!length || length->has_value()) return outcome(length, head, info);
  }
  const ExactCopy whole(text);
  const auto length = parser.parse(whole.view(), head, info);
  return outcome(length, head, info);
}

void require_round_trip(const http::RequestHead& head, const ConnectionInfo& info) {
  const std::string written = test::write(head);
  const auto again = test::parse_request(written);
  require(again.length.has_value() && *again.length == written.size());
  require(again.info.framing == info.framing);
  http::RequestHead expected = head;
  expected.version = http::Version::http11;
  // A target in absolute-form becomes an origin-form, which does not say https.
  expected.scheme = "http";
  require(test::describe(again.head) == test::describe(expected));
  require(test::write(again.head) == written);
}

void require_same_reading_by_llhttp(std::string_view text) {
  const test::Reading ours = test::read_request(text);
  if (!ours.message_complete) return;
  const test::Reading theirs = test::LlhttpOracle::read(text, HTTP_REQUEST);
  if (test::is_known_difference(ours, theirs, text)) return;
  require(theirs.error.empty() && theirs.message_complete);
  require(ours.method == theirs.method && ours.target == theirs.target);
  require(ours.fields == theirs.fields && ours.chunked == theirs.chunked);
  require(ours.body == theirs.body);
  if (ours.method == "CONNECT") return;
  require(ours.content_length == theirs.content_length);
  require(!ours.keep_alive || theirs.keep_alive);
}

}  // namespace
}  // namespace titanium::http1

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace titanium;
  fuzz::Input input(data, size);
  const std::size_t cut = input.number() * 256 + input.number();
  const fuzz::ExactCopy text(input.rest());

  const auto parsed = http1::test::parse_request(text.view());
  const std::string whole = http1::outcome(parsed.length, parsed.head, parsed.info);
  const std::size_t at = text.view().empty() ? 0 : cut % (text.view().size() + 1);
  fuzz::require(http1::parse_in_two(text.view(), at) == whole);

  if (!parsed.length || !parsed.length->has_value()) return 0;
  fuzz::require(**parsed.length <= text.view().size());
  // Without Host (HTTP/1.0), an empty one is written, which HTTP/1.1 does not allow.
  if (!parsed.head.authority.empty()) http1::require_round_trip(parsed.head, parsed.info);
  http1::require_same_reading_by_llhttp(text.view());
  return 0;
}
