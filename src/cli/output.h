// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace titanium::cli {

// One line on standard output, which others may read while we run: flushed at once. False, with a
// note, if it could not be written.
bool print_line(std::string_view line);
// One line for a human, on standard error.
void print_note(std::string_view line);

// On standard error, one line each and in their order. Of more than kMaxDiagnostics, warnings give
// way to errors, and a last line counts what was left out: the beginning is what a person mends
// first, and must not scroll away.
inline constexpr std::size_t kMaxDiagnostics = 100;
void print_diagnostics(const std::vector<config::Diagnostic>& diagnostics);

}  // namespace titanium::cli
