// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titanium::net {

// An IPv4 or IPv6 address with port.
class SocketAddress {
 public:
  SocketAddress() = default;
  // Copies what the kernel or a resolver gave. Other families make an empty address.
  SocketAddress(const sockaddr* address, socklen_t length) noexcept;

  // An address literal: "127.0.0.1", "::1", "[::1]"; nullopt for names and nonsense.
  [[nodiscard]] static std::optional<SocketAddress> parse(std::string_view ip, std::uint16_t port);

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] socklen_t length() const noexcept { return length_; }
  [[nodiscard]] bool is_ipv6() const noexcept { return storage_.v6.sin6_family == AF_INET6; }
  [[nodiscard]] bool empty() const noexcept { return length_ == 0; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  [[nodiscard]] bool is_loopback() const noexcept;
  [[nodiscard]] bool is_wildcard() const noexcept;  // 0.0.0.0 or ::

  [[nodiscard]] std::string ip() const;         // "127.0.0.1", "::1"; IPv4-mapped as IPv4.
  [[nodiscard]] std::string to_string() const;  // "127.0.0.1:80", "[::1]:80".

  bool operator==(const SocketAddress& other) const noexcept;

 private:
  union Storage {
    sockaddr_in v4;
    sockaddr_in6 v6{};
  };
  Storage storage_{};
  socklen_t length_ = 0;
};

}  // namespace titanium::net
