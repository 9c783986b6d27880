// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "config/loader.h"

namespace titanium::config {

// A folder of its own, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = std::filesystem::temp_directory_path() / "titanium-config-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = at(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).native(); }

 private:
  std::filesystem::path path_;
};

// All diagnostics of a text as they would be printed.
inline std::vector<std::string> messages(std::string_view text,
                                         const std::string& file_name = "twp.yaml") {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : load_text(text, file_name).diagnostics) {
    lines.push_back(format_diagnostic(diagnostic));
  }
  return lines;
}

}  // namespace titanium::config
