// SPDX-License-Identifier: MIT
#pragma once

namespace titanium::net::testing {

// System calls of this program that fail with these errno values while they are not 0. The
// program's own functions take the place of libc's, for failures that cannot be had otherwise.
struct FailingCalls {
  int accept4 = 0;
  int epoll_ctl = 0;
};
FailingCalls& failing_calls() noexcept;

}  // namespace titanium::net::testing
