// SPDX-License-Identifier: MIT
#include "http/field.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_words.h"
#include "http/scan.h"

namespace titanium::http {
namespace {

struct KnownFieldRow {
  KnownField id;
  std::string_view name;  // As HTTP/1 usually writes it.
};

// Sorted by length, because a look-up starts with the length: few names share one.
constexpr auto kKnownFields = std::to_array<KnownFieldRow>({
    {KnownField::te, "TE"},
    {KnownField::via, "Via"},
    {KnownField::date, "Date"},
    {KnownField::host, "Host"},
    {KnownField::expect, "Expect"},
    {KnownField::server, "Server"},
    {KnownField::trailer, "Trailer"},
    {KnownField::upgrade, "Upgrade"},
    {KnownField::forwarded, "Forwarded"},
    {KnownField::connection, "Connection"},
    {KnownField::keep_alive, "Keep-Alive"},
    {KnownField::content_length, "Content-Length"},
    {KnownField::http2_settings, "HTTP2-Settings"},
    {KnownField::x_forwarded_for, "X-Forwarded-For"},
    {KnownField::proxy_connection, "Proxy-Connection"},
    {KnownField::x_forwarded_host, "X-Forwarded-Host"},
    {KnownField::transfer_encoding, "Transfer-Encoding"},
    {KnownField::x_forwarded_proto, "X-Forwarded-Proto"},
    {KnownField::proxy_authenticate, "Proxy-Authenticate"},
    {KnownField::proxy_authorization, "Proxy-Authorization"},
    {KnownField::proxy_authentication_info, "Proxy-Authentication-Info"},
});
constexpr auto kNameLength = [](const KnownFieldRow& row) { return row.name.size(); };
constexpr std::size_t kLongestName = kKnownFields.back().name.size();
static_assert(std::ranges::is_sorted(kKnownFields, {}, kNameLength));
static_assert(kKnownFields.size() == kKnownFieldCount - 1, "every field but `other` has a row");

// Row of the first name of each length; the names of length n are rows [n] to [n + 1].
constexpr auto kFirstRow = [] {
  std::array<std::uint8_t, kLongestName + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    const auto row = std::ranges::lower_bound(kKnownFields, length, {}, kNameLength);
    first[length] = static_cast<std::uint8_t>(row - kKnownFields.begin());
  }
  return first;
}();

// The canonical names by id, for the opposite direction.
constexpr auto kNames = [] {
  std::array<std::string_view, kKnownFieldCount> names{};
  for (const auto& row : kKnownFields) names[std::to_underlying(row.id)] = row.name;
  return names;
}();

}  // namespace

KnownField find_known_field(std::string_view name) noexcept {
  if (name.size() > kLongestName || name.empty()) return KnownField::other;
  const char first = to_lower(name.front());
  for (std::size_t i = kFirstRow[name.size()]; i < kFirstRow[name.size() + 1]; ++i) {
    const std::string_view known = kKnownFields[i].name;
    if (to_lower(known.front()) == first && equals_ignore_case(known, name)) {
      return kKnownFields[i].id;
    }
  }
  return KnownField::other;
}

std::string_view canonical_name(KnownField field) noexcept {
  return kNames[std::to_underlying(field)];
}

const Field* FieldList::find(KnownField known) const noexcept {
  if (!has(known)) return nullptr;
  for (const Field& field : fields_) {
    if (field.known == known && !field.dropped) return &field;
  }
  return nullptr;
}

const Field* FieldList::find(std::string_view name) const noexcept {
  if (const KnownField known = find_known_field(name); known != KnownField::other) {
    return find(known);
  }
  for (const Field& field : fields_) {
    if (!field.dropped && equals_ignore_case(field.name, name)) return &field;
  }
  return nullptr;
}

void FieldList::drop(KnownField known) noexcept {
  if (!has(known)) return;
  for (Field& field : fields_) {
    if (field.known == known) field.dropped = true;
  }
}

void FieldList::drop(std::string_view name) noexcept {
  if (const KnownField known = find_known_field(name); known != KnownField::other) {
    return drop(known);
  }
  for (Field& field : fields_) {
    if (equals_ignore_case(field.name, name)) field.dropped = true;
  }
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_token_byte);
}

bool is_field_value(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  return find_control(text.data(), end) == end;
}

bool equals_ignore_case(std::string_view a, std::string_view b) noexcept {
  return same_text_ignore_case(a, b);
}

std::string_view trim_blanks(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool next_list_element(std::string_view& list, std::string_view& element) noexcept {
  while (!list.empty()) {
    std::size_t end = 0;
    bool quoted = false;
    for (; end < list.size() && (quoted || list[end] != ','); ++end) {
      if (list[end] == '"') {
        quoted = !quoted;
      } else if (quoted && list[end] == '\\' && end + 1 < list.size()) {
        ++end;  // quoted-pair (RFC 9110 §5.6.4): the next byte means nothing.
      }
    }
    element = trim_blanks(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (!element.empty()) return true;
  }
  return false;
}

bool list_contains(std::string_view list, std::string_view token) noexcept {
  std::string_view element;
  while (next_list_element(list, element)) {
    if (equals_ignore_case(element, token)) return true;
  }
  return false;
}

}  // namespace titanium::http
