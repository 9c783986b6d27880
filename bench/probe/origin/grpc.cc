// SPDX-License-Identifier: MIT
#include "origin/grpc.h"

#include "origin/content.h"

namespace titanium::probe {

std::string make_grpc_message(std::uint32_t bytes) {
  std::string text(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(bytes >> shift & 0xffU);
  while (text.size() < kGrpcPrefixBytes + bytes) {
    text.append(pattern().substr(0, kGrpcPrefixBytes + bytes - text.size()));
  }
  return text;
}

bool is_one_grpc_message(std::string_view prefix, std::uint64_t bytes) noexcept {
  if (prefix.size() < kGrpcPrefixBytes || prefix[0] != '\0') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 1; i < kGrpcPrefixBytes; ++i) {
    length = length << 8 | static_cast<std::uint8_t>(prefix[i]);
  }
  return kGrpcPrefixBytes + length == bytes;
}

}  // namespace titanium::probe
