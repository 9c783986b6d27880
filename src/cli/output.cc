// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <cerrno>
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
  for (const config::Diagnostic& diagnostic : diagnostics) {
    put(stderr, config::format_diagnostic(diagnostic));
  }
}

}  // namespace titanium::cli
