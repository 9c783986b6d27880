// SPDX-License-Identifier: MIT
#include "net/file_descriptor.h"

#include <unistd.h>

namespace titanium::net {

FileDescriptor::~FileDescriptor() {
  // No second try after EINTR: Linux has released the number by then, and another thread may own
  // it.
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace titanium::net
