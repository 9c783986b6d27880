// SPDX-License-Identifier: MIT
//
// What the sub-commands do, apart from how they are spelled (command_line.h).
#pragma once

#include <cstdint>
#include <string>

namespace titanium::cli {

// Exit codes are a promise to scripts.
inline constexpr int kExitClean = 0;
inline constexpr int kExitFailed = 1;  // Configuration or start.
inline constexpr int kExitUsage = 2;

struct RunRequest {
  std::string config_path;  // Empty: the embedded default with its demo origin.
  bool verbose = false;
  std::uint16_t port = 8080;  // Of the embedded default; 0: a free one.
  std::uint16_t tls_port = 8443;
};
// Serves until a signal ends it.
[[nodiscard]] int run(const RunRequest& request);

struct TestRequest {
  std::string config_path;
  bool strict = false;  // Warnings count as failures.
};
// Loads and checks a configuration without listening.
[[nodiscard]] int test(const TestRequest& request);

}  // namespace titanium::cli
