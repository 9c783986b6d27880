// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace titanium::config {

// Collects what is wrong while a file is read.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  void error(Position position, const std::string& path, std::string message,
             std::string hint = {});
  void warning(Position position, const std::string& path, std::string message,
               std::string hint = {});
  // Problems of the text itself.
  void add(std::vector<Diagnostic> problems);

  // False if there is an error for this path, for a block that it is in, or for something in it.
  [[nodiscard]] bool is_sound(std::string_view path) const;

  [[nodiscard]] bool has_errors() const noexcept { return has_errors_; }

  // Everything, in the order of the file.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string, std::less<>> wrong_paths_;
  bool has_errors_ = false;
};

}  // namespace titanium::config
