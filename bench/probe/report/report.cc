// SPDX-License-Identifier: MIT
#include "report/report.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "report/chart.h"
#include "report/markdown.h"
#include "report/table.h"
#include "results/results.h"

namespace titanium::probe {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// False, with a message, if not all of it could be written.
[[nodiscard]] bool write_all(std::FILE* file, std::string_view name, std::string_view text) {
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
      std::fflush(file) == 0) {
    return true;
  }
  fmt::print(stderr, "rps-load-probe: {} can not be written\n", name);
  return false;
}

[[nodiscard]] bool write_file(const std::string& name, std::string_view text) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(name.c_str(), "wb"));
  return write_all(file.get(), name, text);
}

}  // namespace

int run_report(const ReportOptions& options) {
  if (options.files.empty()) {
    fmt::print(stderr, "rps-load-probe: report needs at least one result file\n");
    return kExitUsage;
  }
  const auto results = load_results(options.files);
  if (!results) {
    fmt::print(stderr, "rps-load-probe: {}\n", results.error());
    return kExitUsage;
  }
  for (const std::string& warning : results->warnings) {
    fmt::print(stderr, "rps-load-probe: {}\n", warning);
  }
  const Tables tables = build_tables(*results);
  const std::string markdown = render_markdown(*results, tables);
  bool written = options.markdown_file.empty() ? write_all(stdout, "standard output", markdown)
                                               : write_file(options.markdown_file, markdown);
  if (!options.svg_file.empty()) {
    written = write_file(options.svg_file, render_chart(tables)) && written;
  }
  return written ? 0 : kExitFailed;
}

}  // namespace titanium::probe
