// SPDX-License-Identifier: MIT
#include "route/path_template.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "http/uri.h"

namespace titanium::route {
namespace {

// Takes the text up to the next slash off the front of `rest`, and the slash. nullopt at the end.
// "a/" has two segments, the second one empty.
std::optional<std::string_view> next_segment(std::string_view& rest, bool& at_end) noexcept {
  if (at_end) return std::nullopt;
  const auto slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  at_end = slash == std::string_view::npos;
  rest = at_end ? std::string_view{} : rest.substr(slash + 1);
  return segment;
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

struct Hole {
  std::string_view name;
  bool takes_rest = false;
};

// "{name}", "{name**}" or "{**name}".
std::optional<Hole> parse_hole(std::string_view segment) noexcept {
  if (!segment.starts_with('{') || !segment.ends_with('}')) return std::nullopt;
  Hole hole{.name = segment.substr(1, segment.size() - 2)};
  if (hole.name.starts_with("**")) {
    hole = {.name = hole.name.substr(2), .takes_rest = true};
  } else if (hole.name.ends_with("**")) {
    hole = {.name = hole.name.substr(0, hole.name.size() - 2), .takes_rest = true};
  }
  if (!is_name(hole.name)) return std::nullopt;
  return hole;
}

// The form in which the segment stands in a normalised path; nullopt if it would not stand there as
// one segment ("..", "%2e").
std::optional<std::string> normalized_segment(std::string_view segment) {
  const std::string path = "/" + std::string(segment);
  if (segment.contains('?') || !http::check_origin_form(path)) return std::nullopt;
  std::string out;
  http::normalize_path(path, out);
  if (!out.starts_with('/') || out.find('/', 1) != std::string::npos) return std::nullopt;
  if (out.size() == 1 && !segment.empty()) return std::nullopt;
  return out.substr(1);
}

}  // namespace

std::expected<PathTemplate, std::string> PathTemplate::parse(std::string_view text) {
  if (!text.starts_with('/')) return std::unexpected("a template starts with '/'");
  PathTemplate result;
  std::vector<std::string_view> names;
  std::string_view rest = text.substr(1);
  bool at_end = false;
  while (const auto segment = next_segment(rest, at_end)) {
    if (result.takes_rest_) {
      return std::unexpected("the hole for the rest must be the last segment of the template");
    }
    if (segment->find_first_of("{}") == std::string_view::npos) {
      auto normalized = normalized_segment(*segment);
      if (!normalized) {
        return std::unexpected(
            fmt::format("'{}' cannot be a segment of a template", segment->substr(0, 60)));
      }
      result.segments_.push_back({.text = *std::move(normalized), .is_hole = false});
      ++result.text_segments_;
      continue;
    }
    const auto hole = parse_hole(*segment);
    if (!hole) {
      return std::unexpected(fmt::format(
          "'{}' is neither text nor one hole, {{name}} or {{name**}}", segment->substr(0, 60)));
    }
    if (std::ranges::contains(names, hole->name)) {
      return std::unexpected(fmt::format("the name '{}' is used twice", hole->name.substr(0, 60)));
    }
    names.push_back(hole->name);
    if (hole->takes_rest) {
      result.takes_rest_ = true;
    } else {
      result.segments_.push_back({.text = {}, .is_hole = true});
    }
  }
  return result;
}

bool PathTemplate::matches(std::string_view path) const noexcept {
  if (!path.starts_with('/')) return false;
  std::string_view rest = path.substr(1);
  bool at_end = false;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const auto segment = next_segment(rest, at_end);
    if (!segment) return false;
    if (segments_[i].is_hole ? segment->empty() : *segment != segments_[i].text) return false;
  }
  return at_end || takes_rest_;
}

}  // namespace titanium::route
