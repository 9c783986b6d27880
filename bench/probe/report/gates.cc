// SPDX-License-Identifier: MIT
#include "report/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

#include "report/targets.h"
#include "report/verdict.h"
#include "results/results.h"

namespace titanium::probe {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitFallsShort = 3;

constexpr std::array<std::string_view, 3> kWords = {"pass", "falls short", "not measured"};

[[nodiscard]] std::string line(std::string_view verdict, std::string_view row,
                               std::string_view text) {
  return fmt::format("  {:<12}  {}: {}\n", verdict, row, text);
}

// Rows of which the reason is the same stand on one line: most of 25 cells are usually not part of
// a run.
[[nodiscard]] std::string render_not_measured(const std::vector<Verdict>& verdicts) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != Verdict::Kind::not_measured) continue;
    if (by_reason.empty() || by_reason.back().first != verdict.text) {
      by_reason.push_back({verdict.text, {}});
    }
    by_reason.back().second.push_back(verdict.row);
  }
  std::string text;
  for (const auto& [reason, rows] : by_reason) {
    text += line(kWords[2], fmt::format("{}", fmt::join(rows, ", ")), reason);
  }
  return text;
}

class Tally {
 public:
  [[nodiscard]] std::string render(const Target& target, const Results& results) {
    const std::vector<Verdict> verdicts = judge(target, results);
    std::string text = fmt::format("{}\n", target.name);
    for (const Verdict& verdict : verdicts) {
      const auto kind = static_cast<std::size_t>(verdict.kind);
      ++counts_[kind];
      if (verdict.kind == Verdict::Kind::not_measured) continue;
      text += line(kWords[kind], verdict.row, verdict.text);
    }
    return text + render_not_measured(verdicts);
  }
  [[nodiscard]] std::string render_sum() const {
    return fmt::format("{} pass, {} fall short, {} not measured\n", counts_[0], counts_[1],
                       counts_[2]);
  }
  [[nodiscard]] bool falls_short() const noexcept { return counts_[1] > 0; }

 private:
  std::array<std::size_t, kWords.size()> counts_{};
};

}  // namespace

int run_gates(const std::vector<std::string>& files) {
  if (files.empty()) {
    fmt::print(stderr, "rps-load-probe: gates needs at least one result file\n");
    return kExitUsage;
  }
  const auto results = load_results(files);
  if (!results) {
    fmt::print(stderr, "rps-load-probe: {}\n", results.error());
    return kExitUsage;
  }
  for (const std::string& warning : results->warnings) {
    fmt::print(stderr, "rps-load-probe: {}\n", warning);
  }
  Tally tally;
  std::string text;
  for (const Target& target : kTargets) text += tally.render(target, *results);
  text += tally.render_sum();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fmt::print(stderr, "rps-load-probe: standard output can not be written\n");
    return kExitFailed;
  }
  return tally.falls_short() ? kExitFallsShort : 0;
}

}  // namespace titanium::probe
