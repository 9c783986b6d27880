// SPDX-License-Identifier: MIT
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/try.h"
#include "net/port_owner.h"
#include "net/tcp.h"

namespace titanium::net {
namespace {

std::unexpected<Error> listen_error(int error, std::string_view what) {
  return std::unexpected(Error{.code = Code::config, .native = error, .what = what});
}

bool set_option(int fd, int level, int option, bool on) noexcept {
  const int value = on ? 1 : 0;
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

std::string_view bind_failure(int error) noexcept {
  switch (error) {
    case EADDRINUSE:
      return "the port is taken";
    case EADDRNOTAVAIL:
      return "the machine does not have this address";
    case EACCES:
    case EPERM:
      return "the user may not listen on this port";
    default:
      return "the address cannot be bound";
  }
}

Result<FileDescriptor> bound_socket(const SocketAddress& address, bool reuse_port) {
  const int family = address.is_ipv6() ? AF_INET6 : AF_INET;
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return listen_error(errno, "no socket for this kind of address");
  // Connections of an earlier run in TIME_WAIT must not keep us from starting.
  bool ok = set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, true);
  // One socket, one family: with the default, [::]:80 would also take 0.0.0.0:80.
  if (address.is_ipv6()) ok &= set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, true);
  if (reuse_port) ok &= set_option(socket.get(), SOL_SOCKET, SO_REUSEPORT, true);
  if (!ok) return listen_error(errno, "a socket option was refused");
  if (::bind(socket.get(), address.get(), address.length()) != 0) {
    return listen_error(errno, bind_failure(errno));
  }
  return socket;
}

}  // namespace

Result<FileDescriptor> listen_tcp(const SocketAddress& address, const ListenOptions& options) {
  if (address.empty()) return listen_error(EINVAL, "no address to listen on");
  if (options.reuse_port && address.port() != 0) {
    // A trial without SO_REUSEPORT, which the kernel refuses if anybody listens there.
    const auto trial = bound_socket(address, false);
    const bool taken = !trial && trial.error().native == EADDRINUSE;
    if (!trial && !(taken && this_process_listens_on(address))) {
      return std::unexpected(trial.error());
    }
  }
  TI_TRY_ASSIGN(FileDescriptor socket, bound_socket(address, options.reuse_port));
  if (options.accepted.no_delay) set_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, true);
  if (options.accepted.keep_alive) set_option(socket.get(), SOL_SOCKET, SO_KEEPALIVE, true);
  if (::listen(socket.get(), options.backlog) != 0) {
    return listen_error(errno, bind_failure(errno));
  }
  return socket;
}

SocketAddress local_address_of(int fd) {
  sockaddr_storage address;
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  return {reinterpret_cast<const sockaddr*>(&address), length};
}

}  // namespace titanium::net
