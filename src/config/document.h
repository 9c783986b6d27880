// SPDX-License-Identifier: MIT
//
// A file as a tree of values with their positions, whatever its dialect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace titanium::config {

struct Member;

struct Value {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  Position position;
  std::string text;             // Of a scalar.
  std::vector<Value> items;     // Of a list.
  std::vector<Member> members;  // Of a map, in the order of the file, each key once.

  // The value of a key; nullptr if the map does not have it or this is no map.
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;
};

struct Member {
  std::string key;
  Position position;  // Of the key.
  Value value;
};

// Bounds for a document after its aliases were expanded: an alias of an alias of an alias is how
// a small file becomes a large one.
inline constexpr std::size_t kMaxNodes = 200'000;
inline constexpr std::size_t kMaxTextBytes = 16 * 1024 * 1024;
inline constexpr int kMaxDepth = 64;

struct ParsedDocument {
  Value root;
  std::vector<Diagnostic> problems;  // Without file names.
  bool is_whole = true;              // False: `root` is only a part of the file, or nothing.
};

// Refuses what is no YAML, several documents, keys given twice, and merge keys (`<<`), which YAML
// 1.2 does not have.
[[nodiscard]] ParsedDocument parse_yaml(std::string_view text);

}  // namespace titanium::config
