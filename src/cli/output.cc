// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace titanium::cli {
namespace {

// One call, so that a line does not mix with those of the log's thread. False: not all was written.
bool put(std::FILE* file, std::string_view line) {
  std::string text(line);
  text += '\n';
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

bool print_line(std::string_view line) {
  if (put(stdout, line)) return true;
  print_note(std::string("standard output cannot be written: ") + std::strerror(errno));
  return false;
}

void print_note(std::string_view line) { put(stderr, "titanium: " + std::string(line)); }

void print_diagnostics(const std::vector<config::Diagnostic>& diagnostics) {
  const auto is_error = [](const config::Diagnostic& diagnostic) {
    return diagnostic.severity == config::Severity::error;
  };
  const auto all_errors = static_cast<std::size_t>(std::ranges::count_if(diagnostics, is_error));
  std::size_t errors = std::min(all_errors, kMaxDiagnostics);
  std::size_t warnings = std::min(diagnostics.size() - all_errors, kMaxDiagnostics - errors);
  const std::size_t left_out = diagnostics.size() - errors - warnings;
  for (const config::Diagnostic& diagnostic : diagnostics) {
    std::size_t& room = is_error(diagnostic) ? errors : warnings;
    if (room == 0) continue;
    --room;
    put(stderr, config::format_diagnostic(diagnostic));
  }
  if (left_out > 0) put(stderr, "... and " + std::to_string(left_out) + " more");
}

}  // namespace titanium::cli
