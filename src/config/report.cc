// SPDX-License-Identifier: MIT
#include "config/report.h"

#include <algorithm>
#include <utility>

namespace titanium::config {

void Report::error(Position position, const std::string& path, std::string message,
                   std::string hint) {
  has_errors_ = true;
  wrong_paths_.insert(path);
  diagnostics_.push_back({.severity = Severity::error,
                          .file = file_,
                          .position = position,
                          .path = path,
                          .message = std::move(message),
                          .hint = std::move(hint)});
}

void Report::warning(Position position, const std::string& path, std::string message,
                     std::string hint) {
  diagnostics_.push_back({.severity = Severity::warning,
                          .file = file_,
                          .position = position,
                          .path = path,
                          .message = std::move(message),
                          .hint = std::move(hint)});
}

void Report::add(std::vector<Diagnostic> problems) {
  for (Diagnostic& problem : problems) {
    has_errors_ = has_errors_ || problem.severity == Severity::error;
    problem.file = file_;
    diagnostics_.push_back(std::move(problem));
  }
}

bool Report::is_sound(std::string_view path) const {
  for (const char separator : {'.', '['}) {
    const std::string prefix = std::string(path) + separator;
    const auto below = wrong_paths_.lower_bound(prefix);
    if (below != wrong_paths_.end() && below->starts_with(prefix)) return false;
  }
  for (;;) {
    if (wrong_paths_.contains(path)) return false;
    const auto cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) return true;
    path = path.substr(0, cut);
  }
}

std::vector<Diagnostic> Report::take() {
  std::ranges::stable_sort(diagnostics_, {}, [](const Diagnostic& d) {
    return std::pair(d.position.line, d.position.column);
  });
  return std::exchange(diagnostics_, {});
}

}  // namespace titanium::config
