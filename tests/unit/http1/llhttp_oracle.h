// SPDX-License-Identifier: MIT
//
// What llhttp (the parser of Node.js), as strict as it goes, says about the same bytes. We may
// refuse what it accepts; what we accept, it has to accept too and has to read in the same way.
#pragma once

#include <llhttp.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/field.h"
#include "http/message.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"

namespace titanium::http1::test {

// One message, as any parser may read it.
struct Reading {
  bool head_complete = false;
  bool message_complete = false;
  std::string method, target, body;
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // Trailers behind the head's.
  bool chunked = false;
  std::optional<std::uint64_t> content_length;
  bool keep_alive = false;
  std::string error;  // Empty if the bytes so far were accepted.

  bool operator==(const Reading&) const = default;
};

class LlhttpOracle {
 public:
  [[nodiscard]] static Reading read(std::string_view text, llhttp_type_t type,
                                    bool answers_head = false) {
    LlhttpOracle oracle(answers_head);
    llhttp_t parser;
    const llhttp_settings_t settings = callbacks();
    llhttp_init(&parser, type, &settings);
    parser.data = &oracle;
    const llhttp_errno_t code = llhttp_execute(&parser, text.data(), text.size());
    // Both say that the parser stopped where it was meant to.
    if (code != HPE_OK && code != HPE_PAUSED && code != HPE_PAUSED_UPGRADE) {
      oracle.reading_.error = llhttp_errno_name(code);
    }
    return std::move(oracle.reading_);
  }

 private:
  explicit LlhttpOracle(bool answers_head) : answers_head_(answers_head) {}

  static LlhttpOracle& of(llhttp_t* parser) { return *static_cast<LlhttpOracle*>(parser->data); }

  template <auto Target>
  static int append(llhttp_t* parser, const char* at, std::size_t length) {
    (of(parser).*Target).append(at, length);
    return 0;
  }
  template <auto Target>
  static int append_reading(llhttp_t* parser, const char* at, std::size_t length) {
    (of(parser).reading_.*Target).append(at, length);
    return 0;
  }

  static int on_value_complete(llhttp_t* parser) {
    LlhttpOracle& self = of(parser);
    self.reading_.fields.emplace_back(self.name_, http::trim_blanks(self.value_));
    self.name_.clear();
    self.value_.clear();
    return 0;
  }
  static int on_headers_complete(llhttp_t* parser) {
    Reading& reading = of(parser).reading_;
    reading.head_complete = true;
    reading.status = parser->status_code;
    reading.chunked = (parser->flags & F_CHUNKED) != 0;
    if ((parser->flags & F_CONTENT_LENGTH) != 0) reading.content_length = parser->content_length;
    reading.keep_alive = llhttp_should_keep_alive(parser) != 0;
    return of(parser).answers_head_ ? 1 : 0;
  }
  static int on_message_complete(llhttp_t* parser) {
    of(parser).reading_.message_complete = true;
    return HPE_PAUSED;  // What follows is another message.
  }

  static llhttp_settings_t callbacks() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_method = append_reading<&Reading::method>;
    settings.on_url = append_reading<&Reading::target>;
    settings.on_body = append_reading<&Reading::body>;
    settings.on_header_field = append<&LlhttpOracle::name_>;
    settings.on_header_value = append<&LlhttpOracle::value_>;
    settings.on_header_value_complete = on_value_complete;
    settings.on_headers_complete = on_headers_complete;
    settings.on_message_complete = on_message_complete;
    return settings;
  }

  bool answers_head_;
  Reading reading_;
  std::string name_, value_;
};

inline void take_fields(const http::FieldList& from, Reading& to) {
  for (const http::Field& field : from) to.fields.emplace_back(field.name, field.value);
}

// Our own reading of the body behind a head, in the same terms.
inline void read_body(std::string_view rest, Framing framing, std::uint64_t bytes, Side peer,
                      Reading& reading) {
  BodyDecoder decoder(peer);
  decoder.start({.framing = framing, .bytes = bytes});
  http::FieldList trailers;
  for (;;) {
    const auto step = decoder.next(rest, trailers);
    if (!step) {
      reading.error = step.error().what;
      return;
    }
    reading.body += rest.substr(step->overhead, step->data);
    rest.remove_prefix(step->overhead + step->data);
    if (step->done || step->overhead + step->data == 0) break;
  }
  reading.message_complete = decoder.done();
  if (decoder.done()) take_fields(trailers, reading);
}

// The target between the two blanks, which the head has taken apart.
inline std::string target_of(std::string_view text) {
  while (text.starts_with("\r\n")) text.remove_prefix(2);
  const std::size_t begin = text.find(' ') + 1;
  return std::string(text.substr(begin, text.find(' ', begin) - begin));
}

inline Reading read_request(std::string_view text) {
  Reading reading;
  RequestParser parser;
  http::RequestHead head;
  ConnectionInfo info;
  const auto length = parser.parse(text, head, info);
  if (!length) {
    reading.error = length.error().what;
    return reading;
  }
  if (!length->has_value()) return reading;
  reading.head_complete = true;
  reading.method = head.method_text;
  reading.target = target_of(text);
  take_fields(head.fields, reading);
  reading.chunked = info.framing == Framing::chunked;
  if (info.framing == Framing::fixed) reading.content_length = head.body.bytes;
  reading.keep_alive = info.persistent;
  // A tunnel is not ours to read.
  if (info.framing == Framing::tunnel) {
    reading.message_complete = true;
    return reading;
  }
  read_body(text.substr(**length), info.framing, head.body.bytes, Side::client, reading);
  return reading;
}

// Whether a line with a semicolon behind the head has a blank in it, too.
inline bool has_blank_in_extension(const Reading& ours, const Reading& theirs,
                                   std::string_view text) {
  if (!ours.chunked || !theirs.head_complete) return false;
  text.remove_prefix(std::min(text.find("\r\n\r\n"), text.size()));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.contains(';') && line.find_first_of(" \t") != line.npos) return true;
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return false;
}

// Where we accept what llhttp does not, on purpose. Anything else is a finding.
struct Exception {
  std::string_view error;  // llhttp's.
  bool (*applies)(const Reading& ours, const Reading& theirs, std::string_view text);
  std::string_view why;
};
inline constexpr Exception kExceptions[] = {
    {"HPE_INVALID_METHOD",
     [](const Reading& ours, const Reading&, std::string_view) {
       return http::is_token(ours.method);
     },
     "llhttp knows a fixed list of methods, RFC 9110 §9.1 does not"},
    {"HPE_INVALID_VERSION",
     [](const Reading&, const Reading&, std::string_view text) {
       while (text.starts_with("\r\n")) text.remove_prefix(2);
       const std::string_view line = text.substr(0, text.find('\r'));
       return !line.ends_with("/1.1") && !line.ends_with("/1.0");
     },
     "minor versions above 1 (RFC 9110 §2.5)"},
    {"HPE_INVALID_URL",
     [](const Reading& ours, const Reading&, std::string_view) {
       return std::ranges::any_of(ours.target, [](char c) { return (c & 0x80) != 0; });
     },
     "raw UTF-8 in a target: see the table in uri.cc"},
    {"HPE_INVALID_TRANSFER_ENCODING",
     [](const Reading&, const Reading& theirs, std::string_view) { return theirs.head_complete; },
     "in a trailer section, where we drop it (RFC 9110 §6.5.1)"},
    {"HPE_INVALID_CONTENT_LENGTH",
     [](const Reading&, const Reading& theirs, std::string_view) { return theirs.head_complete; },
     "the same"},
    {"HPE_STRICT", has_blank_in_extension,
     "blanks in a chunk extension, which RFC 9112 §7.1.1 tells recipients to accept"},
    {"HPE_INVALID_CHUNK_SIZE", has_blank_in_extension, "the same, before the semicolon"},
};

inline bool is_known_difference(const Reading& ours, const Reading& theirs, std::string_view text) {
  return std::ranges::any_of(kExceptions, [&](const Exception& exception) {
    return theirs.error == exception.error && exception.applies(ours, theirs, text);
  });
}

inline bool names_close(const Reading& reading) {
  return std::ranges::any_of(reading.fields, [](const auto& field) {
    return http::equals_ignore_case(field.first, "connection") &&
           http::list_contains(field.second, "close");
  });
}

}  // namespace titanium::http1::test
