// SPDX-License-Identifier: MIT
//
// What requests, responses and trailers have in common when their lines are read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "http/message.h"
#include "http2/hpack/decoder.h"

namespace titanium::http2 {

// RFC 9113 §8.1.1.
[[nodiscard]] constexpr std::unexpected<Error> malformed(std::string_view what, Side peer) {
  const std::uint16_t status = peer == Side::client ? 400 : 502;
  return std::unexpected(
      Error{.code = Code::protocol, .side = peer, .status = status, .what = what});
}

// RFC 9113 §8.3. An absent one has no data; an empty one has.
struct PseudoFields {
  std::string_view method;
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view protocol;
  std::string_view status;
};

// What the regular fields say about the message.
struct FieldFacts {
  std::optional<std::uint64_t> content_length;
  std::string_view host;
  bool accepts_trailers = false;
  bool expects_continue = false;
  bool expects_other = false;
};

// Which pseudo-fields a section may have.
enum class Section : std::uint8_t { request, response, trailers };

// Reads all lines of `block`. Several cookie lines become one (§8.2.3), for which `block` grows.
[[nodiscard]] Result<> read_fields(FieldBlock& block, Section section, Side peer,
                                   PseudoFields& pseudo, FieldFacts& facts,
                                   http::FieldList& fields);

}  // namespace titanium::http2
