// SPDX-License-Identifier: MIT
//
// The Huffman code of HPACK (RFC 7541 §5.2, Appendix B).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace titanium::http2 {

// Bytes that `text` takes in this code, padding included.
[[nodiscard]] std::size_t huffman_encoded_bytes(std::string_view text) noexcept;

// Writes exactly huffman_encoded_bytes(text).
void huffman_encode(std::string_view text, char* out) noexcept;

// The most that `encoded_bytes` can decode to: the shortest codes have five bits.
[[nodiscard]] constexpr std::size_t huffman_most_decoded_bytes(std::size_t encoded_bytes) noexcept {
  return encoded_bytes * 8 / 5;
}

// Writes up to huffman_most_decoded_bytes() and returns how many it wrote. nullopt: a code is cut
// short, the padding is not made of ones or longer than seven bits, or there is EOS.
[[nodiscard]] std::optional<std::size_t> huffman_decode(std::string_view encoded,
                                                        char* out) noexcept;

}  // namespace titanium::http2
