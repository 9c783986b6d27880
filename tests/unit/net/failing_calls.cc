// SPDX-License-Identifier: MIT
#include "unit/net/failing_calls.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace titanium::net::testing {

FailingCalls& failing_calls() noexcept {
  static FailingCalls calls;
  return calls;
}

}  // namespace titanium::net::testing

using titanium::net::testing::failing_calls;

extern "C" int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  if (failing_calls().accept4 != 0) {
    errno = failing_calls().accept4;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, fd, address, length, flags));
}

extern "C" int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (failing_calls().epoll_ctl != 0) {
    errno = failing_calls().epoll_ctl;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}
