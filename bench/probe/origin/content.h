// SPDX-License-Identifier: MIT
//
// The bodies of an arm: what the origin sends, and what the generator compares with.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/chunk.h"

namespace titanium::probe {

inline constexpr std::string_view kTinyJson =
    R"({"service":"rps-load-probe","message":"hello","status":1})";
static_assert(kTinyJson.size() == 57);

// Every other body is this many bytes over and over: text that does not repeat within, so that a
// piece at the wrong place is noticed.
inline constexpr std::uint32_t kPatternBytes = 64 * 1024;
[[nodiscard]] std::string_view pattern();

// The pattern in a chunk whose slices can be queued any number of times without copying.
[[nodiscard]] Slice make_pattern_slice(ChunkPool& pool);
// Queues the bytes of a body from `offset` on.
void push_pattern(ChunkQueue& out, const Slice& pattern, std::uint64_t offset, std::uint64_t bytes);

// Compares received pieces with what a body should be. Looks at the beginning and the end of each
// piece only (short pieces: at all of it): a shift, a gap or a swap shows there, and comparing each
// byte would make the generator the bottleneck.
class BodyCheck {
 public:
  void expect_tiny() noexcept { start(kTinyJson, kTinyJson.size()); }
  // `text` outlives the check.
  void expect_text(std::string_view text) noexcept { start(text, text.size()); }
  void expect_pattern(std::uint64_t bytes) noexcept { start(pattern(), bytes); }

  // False: these bytes are wrong, or too many.
  [[nodiscard]] bool take(std::string_view piece) noexcept;
  [[nodiscard]] bool is_complete() const noexcept { return seen_ == bytes_; }
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
  void restart() noexcept { seen_ = 0; }

 private:
  void start(std::string_view period, std::uint64_t bytes) noexcept {
    period_ = period;
    bytes_ = bytes;
    seen_ = 0;
  }
  [[nodiscard]] bool matches(std::string_view part, std::uint64_t offset) const noexcept;

  std::string_view period_;
  std::uint64_t bytes_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace titanium::probe
