// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/field.h"

namespace titanium::http2 {

// A line of the static or the dynamic table. Knows its field, so that decoding an index needs no
// look-up of the name.
struct TableLine {
  std::string_view text;  // The name, and right behind it the value: copied in one go.
  std::uint32_t name_bytes = 0;
  http::KnownField known = http::KnownField::other;

  [[nodiscard]] constexpr std::string_view name() const noexcept {
    return {text.data(), name_bytes};
  }
  [[nodiscard]] constexpr std::string_view value() const noexcept {
    return {text.data() + name_bytes, text.size() - name_bytes};
  }
};

}  // namespace titanium::http2
