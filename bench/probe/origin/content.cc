// SPDX-License-Identifier: MIT
#include "origin/content.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace titanium::probe {
namespace {

std::string make_pattern() {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  static_assert(kLetters.size() == 64);
  std::string text(kPatternBytes, ' ');
  // A linear congruential sequence: the same text in every process.
  std::uint32_t state = 1;
  for (char& letter : text) {
    state = state * 1664525U + 1013904223U;
    letter = kLetters[state >> 26];
  }
  return text;
}

}  // namespace

std::string_view pattern() {
  static const std::string text = make_pattern();  // Immutable once made.
  return text;
}

Slice make_pattern_slice(ChunkPool& pool) {
  Slice slice{.chunk = ChunkRef(pool.take_large(kPatternBytes)), .begin = 0, .end = kPatternBytes};
  std::memcpy(slice.chunk->data(), pattern().data(), kPatternBytes);
  return slice;
}

void push_pattern(ChunkQueue& out, const Slice& pattern, std::uint64_t offset,
                  std::uint64_t bytes) {
  while (bytes > 0) {
    const auto at = static_cast<std::uint32_t>(offset % kPatternBytes);
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kPatternBytes - at));
    out.push({.chunk = pattern.chunk, .begin = at, .end = at + part});
    offset += part;
    bytes -= part;
  }
}

bool BodyCheck::matches(std::string_view part, std::uint64_t offset) const noexcept {
  while (!part.empty()) {
    const auto at = static_cast<std::size_t>(offset % period_.size());
    const std::size_t length = std::min(part.size(), period_.size() - at);
    if (std::memcmp(part.data(), period_.data() + at, length) != 0) return false;
    part.remove_prefix(length);
    offset += length;
  }
  return true;
}

bool BodyCheck::take(std::string_view piece) noexcept {
  constexpr std::size_t kEdge = 32;
  if (piece.size() > bytes_ - seen_) return false;
  const std::uint64_t offset = seen_;
  seen_ += piece.size();
  if (piece.size() <= 2 * kEdge) return matches(piece, offset);
  return matches(piece.substr(0, kEdge), offset) &&
         matches(piece.substr(piece.size() - kEdge), seen_ - kEdge);
}

}  // namespace titanium::probe
