// SPDX-License-Identifier: MIT
//
// twp.yaml to Config. The one entry of this layer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/diagnostic.h"

namespace titanium::config {

inline constexpr std::size_t kMaxFileBytes = 8 * 1024 * 1024;

struct LoadOutcome {
  std::optional<Config> config;         // Present if there is no error; warnings do not matter.
  std::vector<Diagnostic> diagnostics;  // All problems of the file, in the order of the file.

  [[nodiscard]] bool has_errors() const noexcept { return !config.has_value(); }
  [[nodiscard]] bool has_warnings() const noexcept;
};

// Reads a file and checks everything in it, the files it names included. Never throws for anything
// that is in the file.
[[nodiscard]] LoadOutcome load_file(const std::string& path);

// The same for text. `file_name` is for messages; its folder is where relative paths start.
[[nodiscard]] LoadOutcome load_text(std::string_view text, const std::string& file_name);

}  // namespace titanium::config
