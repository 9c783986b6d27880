// SPDX-License-Identifier: MIT
#pragma once

namespace titanium::cli {

// All of the program: reads the arguments, does what they say, and returns the exit code.
[[nodiscard]] int run_command_line(int argc, const char* const* argv);

}  // namespace titanium::cli
