// SPDX-License-Identifier: MIT
//
// Field lines (RFC 9110 §5) as views into somebody else's memory, the same for every HTTP version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace titanium::http {

// Fields the proxy itself acts on. All others travel as text and cost nothing here.
enum class KnownField : std::uint8_t {
  other,
  connection,
  content_length,
  date,
  expect,
  forwarded,
  host,
  http2_settings,
  keep_alive,
  proxy_authenticate,
  proxy_authentication_info,
  proxy_authorization,
  proxy_connection,
  server,
  te,
  trailer,
  transfer_encoding,
  upgrade,
  via,
  x_forwarded_for,
  x_forwarded_host,
  x_forwarded_proto,
};
inline constexpr std::size_t kKnownFieldCount = 22;
static_assert(std::to_underlying(KnownField::x_forwarded_proto) + 1 == kKnownFieldCount);

// Finds the id of a name in any case; `other` if the proxy does not act on it. O(length).
[[nodiscard]] KnownField find_known_field(std::string_view name) noexcept;

// The name of a known field as HTTP/1 usually writes it, e.g. "Content-Length". Not for `other`.
[[nodiscard]] std::string_view canonical_name(KnownField field) noexcept;

struct Field {
  std::string_view name;   // As received: in any case.
  std::string_view value;  // Without blanks around it.
  // The HTTP/1 wire form, "name: value\r\n", where the field arrived in exactly this form; else
  // empty. Lets a serialiser pass on runs of untouched lines as one piece.
  std::string_view line;
  KnownField known = KnownField::other;
  bool dropped = false;  // Must not be forwarded. Kept in the list, as removing would move others.
  bool never_indexed = false;  // No compressor on the way may remember it (RFC 7541 §6.2.3).
};

// The fields of one message section in their order. Storage is reused by clear(), so that a list
// that served one message serves the next without allocation.
class FieldList {
 public:
  void clear() noexcept {
    fields_.clear();
    present_ = 0;
  }
  void add(const Field& field) {
    fields_.push_back(field);
    present_ |= bit(field.known);
  }
  // Builds the field in place: copying one that was just put together costs a stall per field.
  void add(std::string_view name, std::string_view value, std::string_view line, KnownField known) {
    fields_.emplace_back(name, value, line, known);
    present_ |= bit(known);
  }
  void add(std::string_view name, std::string_view value) {
    add(name, value, {}, find_known_field(name));
  }

  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
  [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
  // The field added last. There has to be one.
  [[nodiscard]] Field& back() noexcept { return fields_.back(); }
  [[nodiscard]] auto begin() noexcept { return fields_.begin(); }
  [[nodiscard]] auto end() noexcept { return fields_.end(); }
  [[nodiscard]] auto begin() const noexcept { return fields_.begin(); }
  [[nodiscard]] auto end() const noexcept { return fields_.end(); }

  // True if the list was ever given such a field, dropped or not. O(1). Not for `other`.
  [[nodiscard]] bool has(KnownField known) const noexcept { return (present_ & bit(known)) != 0; }

  // The first field of this kind that is not dropped, or nullptr. Valid until add() or clear().
  [[nodiscard]] const Field* find(KnownField known) const noexcept;
  // The same by name, in any case.
  [[nodiscard]] const Field* find(std::string_view name) const noexcept;

  // Marks all fields of this kind (this name) as dropped.
  void drop(KnownField known) noexcept;
  void drop(std::string_view name) noexcept;

 private:
  static constexpr std::uint32_t bit(KnownField known) noexcept {
    return std::uint32_t{1} << std::to_underlying(known);
  }

  std::vector<Field> fields_;
  std::uint32_t present_ = 0;
};
static_assert(kKnownFieldCount <= 32, "present_ has one bit per known field");

// RFC 9110 §5.6.2: tchar, the characters of names and tokens.
[[nodiscard]] bool is_token(std::string_view text) noexcept;
// RFC 9110 §5.5: no control bytes but HTAB. obs-text (0x80-0xff) is allowed.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;
// ASCII only, as all of HTTP's case-insensitive comparisons are.
[[nodiscard]] bool equals_ignore_case(std::string_view a, std::string_view b) noexcept;
// Removes SP and HTAB on both sides (OWS, RFC 9110 §5.6.3).
[[nodiscard]] std::string_view trim_blanks(std::string_view text) noexcept;

// Takes the next element off the front of a comma-separated list (RFC 9110 §5.6.1); empty elements
// are skipped, and a comma within a quoted-string does not separate. False at the end.
[[nodiscard]] bool next_list_element(std::string_view& list, std::string_view& element) noexcept;
// True if `token` is one of the elements, in any case.
[[nodiscard]] bool list_contains(std::string_view list, std::string_view token) noexcept;

}  // namespace titanium::http
