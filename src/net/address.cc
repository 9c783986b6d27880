// SPDX-License-Identifier: MIT
#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <cstring>

namespace titanium::net {
namespace {

// The last four bytes of ::ffff:a.b.c.d; null for other addresses.
const std::uint8_t* mapped_ipv4(const in6_addr& address) noexcept {
  return IN6_IS_ADDR_V4MAPPED(&address) ? &address.s6_addr[12] : nullptr;
}

std::string ipv4_text(const void* bytes) {
  std::array<char, INET_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET, bytes, text.data(), text.size());
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t length) noexcept {
  if (address == nullptr || length < sizeof(sa_family_t)) return;
  if (address->sa_family == AF_INET && length >= sizeof(sockaddr_in)) {
    std::memcpy(&storage_.v4, address, sizeof(sockaddr_in));
    length_ = sizeof(sockaddr_in);
  } else if (address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6)) {
    std::memcpy(&storage_.v6, address, sizeof(sockaddr_in6));
    length_ = sizeof(sockaddr_in6);
  }
}

std::optional<SocketAddress> SocketAddress::parse(std::string_view ip, std::uint16_t port) {
  const bool bracketed = ip.size() >= 2 && ip.front() == '[' && ip.back() == ']';
  if (bracketed) ip = ip.substr(1, ip.size() - 2);
  std::array<char, INET6_ADDRSTRLEN + 1> text{};
  // inet_pton wants a C string: a NUL inside would hide what follows it.
  if (ip.size() >= text.size() || ip.contains('\0')) return std::nullopt;
  ip.copy(text.data(), ip.size());

  SocketAddress parsed;
  sockaddr_in v4{};
  if (!bracketed && ::inet_pton(AF_INET, text.data(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    parsed.storage_.v4 = v4;
    parsed.length_ = sizeof v4;
    return parsed;
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, text.data(), &v6.sin6_addr) != 1) return std::nullopt;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  parsed.storage_.v6 = v6;
  parsed.length_ = sizeof v6;
  return parsed;
}

std::uint16_t SocketAddress::port() const noexcept {
  if (empty()) return 0;
  return ntohs(is_ipv6() ? storage_.v6.sin6_port : storage_.v4.sin_port);
}

void SocketAddress::set_port(std::uint16_t port) noexcept {
  if (empty()) return;
  (is_ipv6() ? storage_.v6.sin6_port : storage_.v4.sin_port) = htons(port);
}

bool SocketAddress::is_loopback() const noexcept {
  if (empty()) return false;
  if (!is_ipv6()) return ntohl(storage_.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  if (const std::uint8_t* ipv4 = mapped_ipv4(storage_.v6.sin6_addr)) {
    return *ipv4 == IN_LOOPBACKNET;
  }
  return IN6_IS_ADDR_LOOPBACK(&storage_.v6.sin6_addr);
}

bool SocketAddress::is_wildcard() const noexcept {
  if (empty()) return false;
  return is_ipv6() ? IN6_IS_ADDR_UNSPECIFIED(&storage_.v6.sin6_addr)
                   : storage_.v4.sin_addr.s_addr == INADDR_ANY;
}

std::string SocketAddress::ip() const {
  if (empty()) return {};
  if (!is_ipv6()) return ipv4_text(&storage_.v4.sin_addr);
  if (const std::uint8_t* ipv4 = mapped_ipv4(storage_.v6.sin6_addr)) return ipv4_text(ipv4);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET6, &storage_.v6.sin6_addr, text.data(), text.size());
}

std::string SocketAddress::to_string() const {
  if (empty()) return {};
  const std::string address = ip();
  return address.contains(':') ? fmt::format("[{}]:{}", address, port())
                               : fmt::format("{}:{}", address, port());
}

bool SocketAddress::operator==(const SocketAddress& other) const noexcept {
  if (length_ != other.length_ || port() != other.port()) return false;
  if (empty()) return true;
  if (is_ipv6() != other.is_ipv6()) return false;
  if (!is_ipv6()) return storage_.v4.sin_addr.s_addr == other.storage_.v4.sin_addr.s_addr;
  return storage_.v6.sin6_scope_id == other.storage_.v6.sin6_scope_id &&
         IN6_ARE_ADDR_EQUAL(&storage_.v6.sin6_addr, &other.storage_.v6.sin6_addr);
}

}  // namespace titanium::net
