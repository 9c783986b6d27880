// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <cstdio>
#include <string>

namespace titanium::cli {
namespace {

// One call, so that a line does not mix with those of the log's thread.
void put(std::FILE* file, std::string_view line) {
  std::string text(line);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

void print_line(std::string_view line) { put(stdout, line); }

void print_note(std::string_view line) { put(stderr, "titanium: " + std::string(line)); }

void print_diagnostics(const std::vector<config::Diagnostic>& diagnostics) {
  for (const config::Diagnostic& diagnostic : diagnostics) {
    put(stderr, config::format_diagnostic(diagnostic));
  }
}

}  // namespace titanium::cli
