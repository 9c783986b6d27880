// SPDX-License-Identifier: MIT
#include "http2/message_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/try.h"
#include "http/field.h"
#include "http/scan.h"

namespace titanium::http2 {
namespace {

using http::KnownField;

// RFC 9113 §8.2.1 forbids controls, blanks, upper case and bytes above 0x7e. Stricter: a token, as
// RFC 9110 §5.1 has it, because the next hop may be HTTP/1.
constexpr auto kNameBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) {
    const char byte = static_cast<char>(c);
    table[c] = http::is_token_byte(byte) && !(byte >= 'A' && byte <= 'Z');
  }
  return table;
}();

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return kNameBytes[static_cast<unsigned char>(c)];
  });
}

// RFC 9113 §8.2.1: no NUL, CR, LF, and no blanks around. Stricter: no other controls either.
bool is_value(std::string_view value) {
  if (value.empty()) return true;
  return !http::is_blank(value.front()) && !http::is_blank(value.back()) &&
         http::is_field_value(value);
}

bool is_cookie(std::string_view name) { return name.size() == 6 && name == "cookie"; }

// One number. RFC 9110 §8.6 lets us collapse identical repeats; we refuse them.
Result<> read_content_length(std::string_view text, Side peer, FieldFacts& facts) {
  if (facts.content_length) return malformed("more than one content-length", peer);
  // Half of the 64 bits: many parsers keep a length in a signed integer.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, bytes);
  const bool is_number = !text.empty() && http::is_digit(text.front()) &&
                         parsed.ec == std::errc{} && parsed.ptr == end && text.size() <= 20;
  if (!is_number || bytes > kMost) return malformed("content-length is not a number", peer);
  facts.content_length = bytes;
  return {};
}

// Lines that mean something to us, or must not be there.
Result<> read_known(KnownField known, std::string_view value, Section section, Side peer,
                    FieldFacts& facts) {
  switch (known) {
    // RFC 9113 §8.2.2.
    case KnownField::connection:
    case KnownField::keep_alive:
    case KnownField::proxy_connection:
    case KnownField::transfer_encoding:
    case KnownField::upgrade:
      return malformed("connection-specific field", peer);
    case KnownField::te:
      if (!http::equals_ignore_case(value, "trailers")) {
        return malformed("te is not just trailers", peer);
      }
      facts.accepts_trailers = true;
      return {};
    case KnownField::content_length:
      return section == Section::trailers ? Result<>{} : read_content_length(value, peer, facts);
    case KnownField::host:
      if (section != Section::request) return {};
      if (facts.host.data() != nullptr) return malformed("more than one host", peer);
      facts.host = value;
      return {};
    case KnownField::expect:
      (http::equals_ignore_case(value, "100-continue") ? facts.expects_continue
                                                       : facts.expects_other) = true;
      return {};
    default:
      return {};
  }
}

// Where a pseudo-field goes; nullptr: it does not belong into such a section.
std::string_view* slot_of(std::string_view name, Section section, PseudoFields& pseudo) {
  if (section == Section::response) return name == ":status" ? &pseudo.status : nullptr;
  if (section == Section::trailers) return nullptr;
  if (name == ":method") return &pseudo.method;
  if (name == ":scheme") return &pseudo.scheme;
  if (name == ":authority") return &pseudo.authority;
  if (name == ":path") return &pseudo.path;
  if (name == ":protocol") return &pseudo.protocol;
  return nullptr;
}

Result<> read_pseudo(std::string_view name, std::string_view value, Section section, Side peer,
                     PseudoFields& pseudo) {
  std::string_view* slot = slot_of(name, section, pseudo);
  if (slot == nullptr) return malformed("pseudo-field that does not belong here", peer);
  if (slot->data() != nullptr) return malformed("pseudo-field twice", peer);
  if (value.empty()) return malformed("pseudo-field is empty", peer);
  if (!is_value(value)) return malformed("bad character in a pseudo-field", peer);
  *slot = value;
  return {};
}

// The lines of one block as one cookie line.
class Cookies {
 public:
  explicit Cookies(FieldBlock& block) : lines_(block.size()) {
    std::size_t count = 0;
    for (const FieldBlock::Entry& entry : block.entries()) {
      if (is_cookie(block.name(entry))) ++count;
    }
    if (count > 1) join(block);
  }
  // Lines of the block before it grew.
  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
  [[nodiscard]] bool are_joined() const noexcept { return bytes_ != 0; }
  // Its pieces are the lines that the block grew by.
  [[nodiscard]] std::string_view value(const FieldBlock& block) const noexcept {
    return {block.value(block.entries()[lines_]).data(), bytes_};
  }

 private:
  // All texts of a block follow each other, so that what is added piece by piece is one text. The
  // pieces go over the stack, as add() does not take texts of the block itself.
  void join(FieldBlock& block) {
    bool is_first = true;
    for (std::size_t line = 0; line < lines_; ++line) {
      if (!is_cookie(block.name(block.entries()[line]))) continue;
      if (!is_first) add(block, "; ");
      is_first = false;
      const std::size_t size = block.value(block.entries()[line]).size();
      std::array<char, 512> piece;
      for (std::size_t at = 0; at < size; at += piece.size()) {
        const std::string_view part = block.value(block.entries()[line]).substr(at, piece.size());
        std::ranges::copy(part, piece.begin());
        add(block, {piece.data(), part.size()});
      }
    }
  }
  void add(FieldBlock& block, std::string_view text) {
    block.add({}, text, KnownField::other, false);
    bytes_ += text.size();
  }

  std::size_t lines_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<> read_fields(FieldBlock& block, Section section, Side peer, PseudoFields& pseudo,
                     FieldFacts& facts, http::FieldList& fields) {
  const Cookies cookies(block);
  bool had_regular = false;
  bool had_cookie = false;
  for (std::size_t line = 0; line < cookies.lines(); ++line) {
    const FieldBlock::Entry& entry = block.entries()[line];
    const std::string_view name = block.name(entry);
    std::string_view value = block.value(entry);
    if (name.starts_with(':')) {
      if (had_regular) return malformed("pseudo-field after a regular one", peer);
      TI_TRY(read_pseudo(name, value, section, peer, pseudo));
      continue;
    }
    had_regular = true;
    if (!is_name(name)) return malformed("bad field name", peer);
    if (!is_value(value)) return malformed("bad field value", peer);
    if (entry.known != KnownField::other) {
      TI_TRY(read_known(entry.known, value, section, peer, facts));
    } else if (cookies.are_joined() && is_cookie(name)) {
      if (had_cookie) continue;
      had_cookie = true;
      value = cookies.value(block);
    }
    fields.add(name, value, {}, entry.known);
    fields.back().never_indexed = entry.never_indexed;
  }
  return {};
}

}  // namespace titanium::http2
