// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace titanium::probe {

// Compares result files with the targets that Titanium has set itself, and prints for each: passed,
// by how much it falls short, or not measured. Returns the exit code: 0, 3 if a target that was
// measured is missed, 2 if a file can not be read.
[[nodiscard]] int run_gates(const std::vector<std::string>& files);

}  // namespace titanium::probe
