// SPDX-License-Identifier: MIT
#include <algorithm>

#include "http/scan.h"
#include "http1/head_parser.h"
#include "http1/refuse.h"

namespace titanium::http1 {
namespace {

// RFC 9112 §2.2 asks a server to skip at least one empty line before a request line.
constexpr std::uint32_t kSkippedLines = 2;

std::unexpected<Error> too_long(bool is_start_line, Side peer) {
  // RFC 9110 §15.5.15: only a request line can be a URI that is too long.
  if (is_start_line && peer == Side::client) {
    return over_limit("request line is too long", peer, 414);
  }
  return over_limit("line of a head is too long", peer, 431);
}

}  // namespace

Result<bool> LineScanner::scan(std::string_view buffer, const HeadLimits& limits, Side peer,
                               bool has_start_line) {
  if (complete_) return true;
  const char* const base = buffer.data();
  const char* const end = base + std::min<std::size_t>(buffer.size(), limits.head_bytes);
  const char* at = base + scanned_;
  // One pass finds the line ends and everything that is not allowed in a line: both are control
  // bytes, and nothing else is looked for.
  while ((at = http::find_control(at, end)) != end) {
    if (*at != '\r') return refuse(*at == '\n' ? "LF without CR" : "control byte in a head", peer);
    if (at + 1 == end) break;
    if (at[1] != '\n') return refuse("CR without LF", peer);
    const std::uint32_t begin = line_begin_;
    const auto end_of_line = static_cast<std::uint32_t>(at - base);
    at += 2;
    line_begin_ = end_of_line + 2;
    const bool is_start_line = has_start_line && lines_.empty();
    if (begin == end_of_line) {
      if (is_start_line) {
        if (peer != Side::client || ++skipped_ > kSkippedLines) {
          return refuse("empty line instead of a start line", peer);
        }
        continue;
      }
      scanned_ = line_begin_;
      complete_ = true;
      return true;
    }
    if (line_begin_ - begin > limits.line_bytes) return too_long(is_start_line, peer);
    if (lines_.size() >= std::size_t{limits.fields} + (has_start_line ? 1 : 0)) {
      return over_limit("too many fields", peer, 431);
    }
    lines_.emplace_back(begin, end_of_line);
  }
  scanned_ = static_cast<std::uint32_t>(at - base);
  return check_unfinished(static_cast<std::uint32_t>(end - base), limits, peer, has_start_line);
}

// The section is not complete. False if it still can be, an error if it has outgrown the limits.
Result<bool> LineScanner::check_unfinished(std::uint32_t seen, const HeadLimits& limits, Side peer,
                                           bool has_start_line) const {
  const bool in_start_line = has_start_line && lines_.empty();
  if (seen - line_begin_ >= limits.line_bytes) return too_long(in_start_line, peer);
  if (seen >= limits.head_bytes) {
    if (in_start_line) return too_long(in_start_line, peer);
    return over_limit("head is too large", peer, 431);
  }
  return false;
}

void LineScanner::reset() noexcept {
  lines_.clear();
  line_begin_ = scanned_ = skipped_ = 0;
  complete_ = false;
}

}  // namespace titanium::http1
