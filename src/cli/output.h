// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace titanium::cli {

// One line on standard output, which others may read while we run: flushed at once. False, with a
// note, if it could not be written.
bool print_line(std::string_view line);
// One line for a human, on standard error.
void print_note(std::string_view line);

// All of them on standard error, one line each.
void print_diagnostics(const std::vector<config::Diagnostic>& diagnostics);

}  // namespace titanium::cli
