// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

int main(int argc, char** argv) { return titanium::cli::run_command_line(argc, argv); }
