// SPDX-License-Identifier: MIT
#include "config/diagnostic.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/ascii.h"
#include "http/field.h"

namespace titanium::config {
namespace {

constexpr std::size_t kMaxDistance = 2;

// Number of characters to insert, delete, replace or swap with their neighbour to make `b` of `a`;
// case does not count. Stops caring above kMaxDistance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > kMaxDistance) {
    return kMaxDistance + 1;
  }
  // Rows of the usual table: the one before the previous, the previous, the current.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) &&
          to_lower(a[i - 2]) == to_lower(b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string format_diagnostic(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.position.line > 0) {
    text += fmt::format(":{}:{}", diagnostic.position.line, diagnostic.position.column);
  }
  text += diagnostic.severity == Severity::error ? ": error: " : ": warning: ";
  if (!diagnostic.path.empty()) text += diagnostic.path + ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) text += "; " + diagnostic.hint;
  return text;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  for (const std::string_view candidate : known) {
    if (http::equals_ignore_case(word, candidate)) return candidate;
  }
  std::string_view best;
  std::size_t best_distance = kMaxDistance + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    // Two changes make any word of two letters: that is no similarity.
    if (distance < best_distance && distance < candidate.size() && distance < word.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string in_quotes(std::string_view text, std::size_t max_bytes) {
  std::string out = "'";
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  if (text.size() > max_bytes) out += "...";
  return out + "'";
}

}  // namespace titanium::config
