// SPDX-License-Identifier: MIT
#include "tls/key_log.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace titanium::tls {

KeyLog::~KeyLog() {
  if (fd_ >= 0) ::close(fd_);
}

LoadResult<void> KeyLog::open(const std::string& path) {
  fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ >= 0) return {};
  return std::unexpected(LoadError{path + ": cannot write the key log: " + std::strerror(errno)});
}

void KeyLog::write(std::string_view line) const noexcept {
  char newline = '\n';
  const iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {&newline, 1}};
  // A short write would need a full disk; there is no better answer than going on.
  [[maybe_unused]] const ssize_t written = ::writev(fd_, parts, 2);
}

}  // namespace titanium::tls
