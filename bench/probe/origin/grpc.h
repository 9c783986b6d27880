// SPDX-License-Identifier: MIT
//
// As much of gRPC over HTTP/2 as a unary echo takes, for both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace titanium::probe {

inline constexpr std::string_view kGrpcPath = "/grpc.Echo/Unary";

// A message has a byte that says whether it is compressed, and four of length, before it.
inline constexpr std::size_t kGrpcPrefixBytes = 5;

// The size that gRPC servers take by default.
inline constexpr std::uint64_t kMaxGrpcBytes = 4 * 1024 * 1024 + kGrpcPrefixBytes;

// So many bytes of the pattern, with their prefix.
[[nodiscard]] std::string make_grpc_message(std::uint32_t bytes);

// Whether `prefix`, the first bytes of a body of `bytes`, says that the body is one message that is
// not compressed.
[[nodiscard]] bool is_one_grpc_message(std::string_view prefix, std::uint64_t bytes) noexcept;

}  // namespace titanium::probe
