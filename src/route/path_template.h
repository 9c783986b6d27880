// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace titanium::route {

// A path with holes: "/users/{id}/posts" or "/files/{rest**}".
//
// A segment (what is between two slashes) is either text or one hole. {name} takes exactly one
// segment that is not empty; {name**}, also written {**name}, takes all remaining ones, none
// included, and must come last. Names are letters, digits, '_' and '-', each used once.
class PathTemplate {
 public:
  // The error is a sentence for the operator.
  [[nodiscard]] static std::expected<PathTemplate, std::string> parse(std::string_view text);

  // `path` is normalised (http::normalize_path) and has no query. Never allocates.
  [[nodiscard]] bool matches(std::string_view path) const noexcept;

  // For ranking: the more text segments, the more specific.
  [[nodiscard]] std::size_t text_segments() const noexcept { return text_segments_; }
  [[nodiscard]] std::size_t segments() const noexcept { return segments_.size(); }
  [[nodiscard]] bool takes_rest() const noexcept { return takes_rest_; }

 private:
  struct Segment {
    std::string text;  // Normalised; not used for a hole.
    bool is_hole = false;
  };

  std::vector<Segment> segments_;  // Without the hole for the rest.
  std::size_t text_segments_ = 0;
  bool takes_rest_ = false;
};

}  // namespace titanium::route
