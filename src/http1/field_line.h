// SPDX-License-Identifier: MIT
//
// What request heads, response heads and trailer sections have in common. Internal to http1.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "http/message.h"
#include "http1/head_parser.h"

namespace titanium::http1 {

// Parses one field line (RFC 9112 §5) at `line` of `buffer` and adds it to `fields`. The
// LineScanner has been over it: there is CRLF behind, and no control byte but HTAB within.
[[nodiscard]] Result<> parse_field_line(std::string_view buffer, LineScanner::Line line, Side peer,
                                        http::FieldList& fields);

// The values of a field that may appear once. A second one is kept as proof, more are not needed.
class FewValues {
 public:
  void add(std::string_view value) noexcept {
    if (count_ < values_.size()) values_[count_++] = value;
  }
  [[nodiscard]] std::span<const std::string_view> all() const noexcept {
    return {values_.data(), count_};
  }

 private:
  std::array<std::string_view, 2> values_;
  std::size_t count_ = 0;
};

// What the fields of a head say about its connection and body, collected while they are parsed.
struct ConnectionFields {
  FewValues content_lengths;
  FewValues transfer_encodings;
  FewValues hosts;
  std::string_view upgrade;     // Value of the first Upgrade.
  bool has_close = false;       // Connection names close, ...
  bool has_keep_alive = false;  // ... keep-alive, ...
  bool has_upgrade = false;     // ... upgrade.
  bool accepts_trailers = false;
  bool expects_continue = false;
  bool expects_other = false;
  std::uint32_t connection_options = 0;

  // Takes note of a field if it is one of those.
  void note(const http::Field& field) noexcept;

  // RFC 9112 §9.3.
  [[nodiscard]] bool is_persistent(http::Version version) const noexcept {
    if (has_close) return false;
    return version != http::Version::http10 || has_keep_alive;
  }

 private:
  void note_connection(std::string_view list) noexcept;
  void note_expect(std::string_view list) noexcept;
};

// Names in Connection are looked for among all fields: without a bound, a head could make that
// quadratic. No honest message comes near.
inline constexpr std::uint32_t kMaxConnectionOptions = 64;

// Parses all `lines` into `fields` and collects what they say about the connection in `facts`.
[[nodiscard]] Result<> parse_fields(std::string_view buffer,
                                    std::span<const LineScanner::Line> lines, Side peer,
                                    http::FieldList& fields, ConnectionFields& facts);

// "HTTP/" DIGIT "." DIGIT (RFC 9112 §2.3). A higher minor version than 1 is treated as 1 (RFC 9110
// §2.5); another major version is a protocol error with status 505.
inline constexpr std::size_t kVersionBytes = 8;
[[nodiscard]] Result<http::Version> parse_version(std::string_view text, Side peer);

}  // namespace titanium::http1
