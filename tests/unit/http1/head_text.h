// SPDX-License-Identifier: MIT
//
// Heads as text, so that a test can compare everything a parser said in one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/chunk.h"
#include "http1/head_parser.h"
#include "http1/serializer.h"

namespace titanium::http1::test {

inline std::string describe(const http::BodySize& body) {
  switch (body.kind) {
    case http::BodyKind::none:
      return "none";
    case http::BodyKind::sized:
      return "sized " + std::to_string(body.bytes);
    case http::BodyKind::streamed:
      return "streamed";
    case http::BodyKind::tunnel:
      return "tunnel";
  }
  return "?";
}

// All fields that may be forwarded, as "name: value\n".
inline std::string describe(const http::FieldList& fields) {
  std::string text;
  for (const http::Field& field : fields) {
    if (field.dropped) continue;
    text.append(field.name).append(": ").append(field.value).append("\n");
  }
  return text;
}

inline std::string describe(const http::RequestHead& head) {
  std::string text(head.method_text);
  text.append(" ").append(head.scheme).append(" ").append(head.authority);
  text.append(" ").append(head.path).append(" body=").append(describe(head.body));
  if (head.version == http::Version::http10) text += " 1.0";
  if (!head.upgrade.empty()) text.append(" upgrade=").append(head.upgrade);
  if (head.expects_continue) text += " expects-continue";
  if (head.accepts_trailers) text += " accepts-trailers";
  return text;
}

inline std::string describe(const http::ResponseHead& head) {
  std::string text = std::to_string(head.status);
  text.append(" ").append(head.reason).append(" body=").append(describe(head.body));
  if (head.version == http::Version::http10) text += " 1.0";
  if (head.declared_length) text += " declared=" + std::to_string(*head.declared_length);
  if (!head.upgrade.empty()) text.append(" upgrade=").append(head.upgrade);
  return text;
}

inline std::string describe(const Error& error) {
  return std::to_string(error.status) + " " + std::string(error.what);
}

struct ParsedRequest {
  http::RequestHead head;
  ConnectionInfo info;
  Result<std::optional<std::size_t>> length = std::nullopt;
};

// `text` has to outlive the result.
inline ParsedRequest parse_request(std::string_view text, HeadLimits limits = {}) {
  ParsedRequest parsed;
  RequestParser parser(limits);
  parsed.length = parser.parse(text, parsed.head, parsed.info);
  return parsed;
}

struct ParsedResponse {
  http::ResponseHead head;
  ConnectionInfo info;
  Result<std::optional<std::size_t>> length = std::nullopt;
};

inline ParsedResponse parse_response(std::string_view text, http::Method method = http::Method::get,
                                     HeadLimits limits = {}) {
  ParsedResponse parsed;
  ResponseParser parser(limits);
  parsed.length = parser.parse(text, method, parsed.head, parsed.info);
  return parsed;
}

inline std::string contents(const ChunkQueue& queue) {
  std::vector<char> scratch;
  return std::string(queue.peek_contiguous(scratch));
}

inline std::string write(const http::RequestHead& head) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  write_request_head(queue, head);
  return contents(queue);
}

inline std::string write(const http::ResponseHead& head,
                         http::Version client = http::Version::http11,
                         AfterResponse after = AfterResponse::keep_alive) {
  ChunkPool pool;
  ChunkQueue queue(pool);
  write_response_head(queue, head, client, after);
  return contents(queue);
}

}  // namespace titanium::http1::test
