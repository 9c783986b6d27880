// SPDX-License-Identifier: MIT
#include "run/progress.h"

#include <fmt/format.h>

#include <cstdio>

namespace titanium::probe {

Progress::Progress(std::size_t turns, std::chrono::milliseconds turn)
    : turns_(turns), turn_(turn), begin_(std::chrono::steady_clock::now()) {}

void Progress::note(std::string_view text) const {
  // One call, so that lines do not mix with those of children.
  const std::string line = fmt::format("{}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Progress::begin_turn(std::string_view arm, std::uint32_t concurrency, std::uint32_t repeat,
                          std::uint32_t repeats) {
  const std::string line = fmt::format("[{}/{}, {}] {} c={} repeat {}/{}: ", done_ + 1, turns_,
                                       remaining(), arm, concurrency, repeat, repeats);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Progress::end_turn(const Row& row) {
  ++done_;
  ++measured_;
  note(fmt::format(
      "{:.0f}/s, p99 {:.2f} ms, {:.1f} us CPU per request, {:.0f} MiB{}{}{}", row.rps, row.p99_ms,
      row.cpu_us_per_request, static_cast<double>(row.proxy_rss_peak_bytes) / (1024 * 1024),
      row.meets_slo ? "" : ", misses its objectives", row.note.empty() ? "" : ": ", row.note));
}

void Progress::skip_turns(std::size_t count) { done_ += count; }

std::string Progress::remaining() const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  // What a turn really took, as soon as that is known: it includes starts and waiting.
  milliseconds each = turn_;
  if (measured_ > 0) {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    each = duration_cast<milliseconds>(passed) / static_cast<std::int64_t>(measured_);
  }
  const auto left = each * static_cast<std::int64_t>(turns_ - done_);
  return in_words(duration_cast<std::chrono::seconds>(left)) + " left";
}

std::string in_words(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace titanium::probe
