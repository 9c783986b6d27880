// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "tls/context.h"

namespace titanium::tls {

// Appends the secrets of sessions to a file, in the format that Wireshark reads (SSLKEYLOGFILE).
// A debugging aid that the operator asks for. Lines from several threads do not mix: each is one
// write(2) in append mode.
class KeyLog {
 public:
  KeyLog() = default;
  ~KeyLog();
  KeyLog(const KeyLog&) = delete;
  KeyLog& operator=(const KeyLog&) = delete;

  // Creates the file with mode 0600 if needed.
  [[nodiscard]] LoadResult<void> open(const std::string& path);
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

  // A full disk loses lines; nobody waits for it.
  void write(std::string_view line) const noexcept;

 private:
  int fd_ = -1;
};

}  // namespace titanium::tls
