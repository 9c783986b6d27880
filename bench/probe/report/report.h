// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace titanium::probe {

struct ReportOptions {
  std::vector<std::string> files;  // Result files; several are read as one run with more repeats.
  std::string markdown_file;       // Empty: standard output.
  std::string svg_file;            // Empty: no chart.
};

// Writes the tables of a run for people to read. Returns the exit code: 0, 1 if something could not
// be written, 2 if a file can not be read. Beside FILE.csv it looks for FILE-environment.json.
[[nodiscard]] int run_report(const ReportOptions& options);

}  // namespace titanium::probe
