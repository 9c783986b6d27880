// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace titanium::http1 {

// Whether `text`, everything behind a chunk size, is *( BWS ";" BWS name [ BWS "=" BWS value ] )
// with a token or quoted-string as value (RFC 9112 §7.1.1). There is no control byte in it.
//
// Nobody reads extensions, and that is why they are checked: "5 \r\n", "5;\r\n" and the like are
// read as sizes by some parsers and as something else by others.
[[nodiscard]] bool is_chunk_extension(std::string_view text) noexcept;

}  // namespace titanium::http1
