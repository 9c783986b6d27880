// SPDX-License-Identifier: MIT
#include "net/file_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

namespace titanium::net {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(FileDescriptor, ClosesWhatItOwnsOnce) {
  const int fd = ::eventfd(0, EFD_CLOEXEC);
  {
    FileDescriptor first(fd);
    FileDescriptor second(std::move(first));
    EXPECT_FALSE(static_cast<bool>(first));
    EXPECT_EQ(second.get(), fd);
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(FileDescriptor, ClosesTheFormerOneOnAssignment) {
  const int old_fd = ::eventfd(0, EFD_CLOEXEC);
  FileDescriptor descriptor(old_fd);
  descriptor = FileDescriptor();
  EXPECT_FALSE(static_cast<bool>(descriptor));
  EXPECT_FALSE(is_open(old_fd));
}

}  // namespace
}  // namespace titanium::net
