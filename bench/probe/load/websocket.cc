// SPDX-License-Identifier: MIT
#include "load/websocket.h"

#include <algorithm>

#include "base/bytes.h"
#include "tls/certificates/digest.h"

namespace titanium::probe::websocket {
namespace {

constexpr std::uint8_t kFinalBit = 0x80;
constexpr std::uint8_t kReservedBits = 0x70;
constexpr std::uint8_t kMaskBit = 0x80;
constexpr std::uint8_t kLength16 = 126;  // Two bytes of length follow.
constexpr std::uint8_t kLength64 = 127;  // Eight.

constexpr bool is_known(std::uint8_t opcode) noexcept {
  return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

std::uint64_t read_big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<std::uint8_t>(byte);
  return value;
}

constexpr std::size_t length_bytes_of(std::uint8_t short_length) noexcept {
  if (short_length == kLength16) return 2;
  return short_length == kLength64 ? 8 : 0;
}

// §5.2: the minimal number of bytes MUST be used.
constexpr bool is_shortest(std::uint64_t length, std::size_t length_bytes) noexcept {
  if (length_bytes == 2) return length >= kLength16;
  return length_bytes == 0 || length > 0xffff;
}

}  // namespace

Result<std::optional<ParsedHeader>> parse_header(std::string_view bytes, Side peer) {
  if (bytes.size() < 2) return std::nullopt;
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  const auto second = static_cast<std::uint8_t>(bytes[1]);
  if ((first & kReservedBits) != 0) return protocol_error("frame with reserved bits", peer);
  const std::uint8_t opcode = first & 0x0f;
  if (!is_known(opcode)) return protocol_error("frame with an unknown opcode", peer);

  const bool masked = (second & kMaskBit) != 0;
  const std::uint8_t short_length = second & 0x7f;
  const std::size_t length_bytes = length_bytes_of(short_length);
  const std::size_t size = 2 + length_bytes + (masked ? 4 : 0);
  if (bytes.size() < size) return std::nullopt;

  FrameHeader header{.opcode = static_cast<Opcode>(opcode), .final = (first & kFinalBit) != 0};
  header.payload_bytes =
      length_bytes == 0 ? short_length : read_big_endian(bytes.substr(2, length_bytes));
  if (!is_shortest(header.payload_bytes, length_bytes)) {
    return protocol_error("frame length is not in its shortest form", peer);
  }
  if (header.payload_bytes > kMaxPayloadBytes) return limit_error("frame too large", peer, 0);
  // §5.5
  if (is_control(header.opcode) && (!header.final || length_bytes != 0)) {
    return protocol_error("long or fragmented control frame", peer);
  }
  if (masked) {
    Mask& mask = header.mask.emplace();
    std::ranges::transform(bytes.substr(2 + length_bytes, 4), mask.begin(),
                           [](char byte) { return static_cast<std::uint8_t>(byte); });
  }
  return ParsedHeader{.header = header, .bytes = size};
}

void append_header(std::string& out, const FrameHeader& header) {
  const auto opcode = static_cast<std::uint8_t>(header.opcode);
  out += static_cast<char>(opcode | (header.final ? kFinalBit : 0));
  const std::uint64_t length = header.payload_bytes;
  const std::uint8_t mask_bit = header.mask ? kMaskBit : 0;
  const std::size_t length_bytes = length < kLength16 ? 0 : length <= 0xffff ? 2 : 8;
  const std::uint8_t short_length = length_bytes == 0   ? static_cast<std::uint8_t>(length)
                                    : length_bytes == 2 ? kLength16
                                                        : kLength64;
  out += static_cast<char>(short_length | mask_bit);
  for (std::size_t i = length_bytes; i > 0; --i) {
    out += static_cast<char>((length >> (8 * (i - 1))) & 0xff);
  }
  if (header.mask) out.append(header.mask->begin(), header.mask->end());
}

void apply_mask(std::span<char> bytes, const Mask& mask, std::uint64_t offset) noexcept {
  // Turned so that bytes[0] meets mask[0]; the compiler makes vector code of the loop.
  Mask turned;
  for (std::size_t i = 0; i < 4; ++i) turned[i] = mask[(offset + i) % 4];
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<std::uint8_t>(bytes[i]) ^ turned[i % 4]);
  }
}

std::string accept_of(std::string_view key) {
  constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  return tls::base64_encode(tls::sha1(as_bytes(std::string(key).append(kMagic))));
}

}  // namespace titanium::probe::websocket
