// SPDX-License-Identifier: MIT
#include "net/port_owner.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "net/tcp.h"

namespace titanium::net {
namespace {

namespace fs = std::filesystem;

// Whether two sockets on these addresses are in each other's way.
bool collide(const SocketAddress& a, const SocketAddress& b) noexcept {
  if (a.is_ipv6() != b.is_ipv6() || a.port() != b.port()) return false;
  return a == b || a.is_wildcard() || b.is_wildcard();
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// "0100007F:1F90" of /proc/net/tcp: each 32-bit word of the address as the machine stores it, then
// the port as a number.
std::optional<SocketAddress> parse_proc_address(std::string_view text, bool ipv6) {
  const std::size_t digits = ipv6 ? 32 : 8;
  if (text.size() != digits + 5 || text[digits] != ':') return std::nullopt;
  const auto port = parse_number<std::uint16_t>(text.substr(digits + 1), 16);
  if (!port) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < digits / 8; ++i) {
    const auto word = parse_number<std::uint32_t>(text.substr(i * 8, 8), 16);
    if (!word) return std::nullopt;
    words[i] = *word;
  }
  if (ipv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(*port);
    std::memcpy(&address.sin6_addr, words.data(), sizeof address.sin6_addr);
    return SocketAddress(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(*port);
  std::memcpy(&address.sin_addr, words.data(), sizeof address.sin_addr);
  return SocketAddress(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// What /proc/PID/fd shows for the listening sockets on the address: "socket:[12345]".
std::vector<std::string> listening_links(const SocketAddress& address) {
  std::vector<std::string> links;
  std::ifstream table(address.is_ipv6() ? "/proc/net/tcp6" : "/proc/net/tcp");
  std::string line;
  std::getline(table, line);  // The heading.
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const auto at = parse_proc_address(local, address.is_ipv6());
    if (state == "0A" && at && collide(*at, address)) {  // TCP_LISTEN
      links.push_back(fmt::format("socket:[{}]", inode));
    }
  }
  return links;
}

// Calls `visit` for each entry of a folder until it returns true; unreadable folders have none.
template <typename Visit>
bool any_entry(const fs::path& folder, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (visit(at->path())) return true;
  }
  return false;
}

bool process_holds(const fs::path& process, const std::vector<std::string>& links) {
  return any_entry(process / "fd", [&](const fs::path& fd) {
    std::error_code error;
    const fs::path target = fs::read_symlink(fd, error);
    return !error && std::ranges::contains(links, target.string());
  });
}

}  // namespace

std::string owner_of_listening_port(const SocketAddress& address) {
  const auto links = listening_links(address);
  if (links.empty()) return {};
  std::string owner;
  any_entry("/proc", [&](const fs::path& process) {
    const auto pid = parse_number<int>(process.filename().string(), 10);
    if (!pid || !process_holds(process, links)) return false;
    std::string name;
    std::ifstream comm(process / "comm");
    std::getline(comm, name);
    owner = fmt::format("{} (pid {})", name, *pid);
    return true;
  });
  return owner;
}

// Asks each descriptor instead of comparing inodes: /proc/net may show another network namespace's
// view in a sandbox, getsockname(2) cannot.
bool this_process_listens_on(const SocketAddress& address) {
  return any_entry("/proc/self/fd", [&](const fs::path& path) {
    const auto fd = parse_number<int>(path.filename().string(), 10);
    int listening = 0;
    socklen_t length = sizeof listening;
    return fd && ::getsockopt(*fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) == 0 &&
           listening != 0 && collide(local_address_of(*fd), address);
  });
}

}  // namespace titanium::net
