// SPDX-License-Identifier: MIT
//
// The static table of HPACK (RFC 7541 Appendix A).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "http2/hpack/table_line.h"

namespace titanium::http2 {

inline constexpr std::uint32_t kStaticLines = 61;
// The index of the newest line of the dynamic table (RFC 7541 §2.3.3).
inline constexpr std::uint32_t kFirstDynamicIndex = kStaticLines + 1;

struct StaticRow {
  std::string_view name;
  std::string_view value = {};
  http::KnownField known = http::KnownField::other;
};

// Index 0 is not used (RFC 7541 §6.1). Lines of the same name follow each other.
inline constexpr auto kStaticRows = std::to_array<StaticRow>({
    {""},
    {":authority"},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset"},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language"},
    {"accept-ranges"},
    {"accept"},
    {"access-control-allow-origin"},
    {"age"},
    {"allow"},
    {"authorization"},
    {"cache-control"},
    {"content-disposition"},
    {"content-encoding"},
    {"content-language"},
    {"content-length", "", http::KnownField::content_length},
    {"content-location"},
    {"content-range"},
    {"content-type"},
    {"cookie"},
    {"date", "", http::KnownField::date},
    {"etag"},
    {"expect", "", http::KnownField::expect},
    {"expires"},
    {"from"},
    {"host", "", http::KnownField::host},
    {"if-match"},
    {"if-modified-since"},
    {"if-none-match"},
    {"if-range"},
    {"if-unmodified-since"},
    {"last-modified"},
    {"link"},
    {"location"},
    {"max-forwards"},
    {"proxy-authenticate", "", http::KnownField::proxy_authenticate},
    {"proxy-authorization", "", http::KnownField::proxy_authorization},
    {"range"},
    {"referer"},
    {"refresh"},
    {"retry-after"},
    {"server", "", http::KnownField::server},
    {"set-cookie"},
    {"strict-transport-security"},
    {"transfer-encoding", "", http::KnownField::transfer_encoding},
    {"user-agent"},
    {"vary"},
    {"via", "", http::KnownField::via},
    {"www-authenticate"},
});
static_assert(kStaticRows.size() == kStaticLines + 1);

// `index` is 1 to kStaticLines.
[[nodiscard]] TableLine static_line(std::uint32_t index) noexcept;

// The first line with this name (in lower case), or 0. `hash` is hash_text(name).
[[nodiscard]] std::uint32_t find_static_name(std::string_view name, std::uint32_t hash) noexcept;

// The line with this name and this value, or 0. `hash` is hash_text(value, hash_text(name)). Lines
// without a value are not found: they are there for their names.
[[nodiscard]] std::uint32_t find_static_line(std::string_view name, std::string_view value,
                                             std::uint32_t hash) noexcept;

// The first line of a field that the proxy knows, or 0.
[[nodiscard]] constexpr std::uint32_t static_index_of(http::KnownField known) noexcept {
  constexpr auto kIndexOfKnown = [] {
    std::array<std::uint8_t, http::kKnownFieldCount> index{};
    for (std::size_t i = 1; i < kStaticRows.size(); ++i) {
      if (kStaticRows[i].known != http::KnownField::other) {
        index[std::to_underlying(kStaticRows[i].known)] = static_cast<std::uint8_t>(i);
      }
    }
    return index;
  }();
  return kIndexOfKnown[std::to_underlying(known)];
}

}  // namespace titanium::http2
