// SPDX-License-Identifier: MIT
//
// Every key of twp.yaml in one table: the reader checks by it, docs/configuration.md is rendered
// from it. Adding a key is a row here, a member in config.h and a line in reader.cc; tests fail if
// one of the three is forgotten.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace titanium::config {

enum class Type : std::uint8_t {
  section,   // A block of keys.
  sections,  // A list of such blocks.
  boolean,
  integer,       // min to max.
  number,        // min to max, fractions allowed.
  seconds,       // The same, to a millisecond.
  text,          // Not empty.
  token,         // RFC 9110 §5.6.2, or empty.
  word,          // One of `words`, in any case.
  words,         // A list of those.
  host,          // Name or IP literal, without port.
  bind_address,  // IP literal, "*" or "localhost".
  endpoint,      // IP literal with or without port.
  host_pattern,  // Name, IP literal or "*.name".
  host_patterns,
  path,  // Of a URI; its form depends on pathKind.
  method,
  methods,
  header_pairs,  // Field names to values.
  text_pairs,
  input_file,   // Exists. Relative to the folder of the configuration file.
  output_file,  // Its folder exists.
};

struct Row {
  std::string_view path = {};  // "listeners[].port".
  Type type = Type::text;
  std::string_view default_text = {};  // As shown; empty: none.
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::span<const std::string_view> words = {};  // For an enum, in the order of its enumerators.
  bool required = false;
  bool literal_default = true;  // default_text can be written into a file as it is.
  std::string_view help = {};

  // "listeners[]" and "port" of "listeners[].port"; the parent of a root key is empty.
  [[nodiscard]] constexpr std::string_view parent() const noexcept {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
  }
  [[nodiscard]] constexpr std::string_view key() const noexcept {
    const auto dot = path.rfind('.');
    std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
    if (name.ends_with("[]")) name.remove_suffix(2);
    return name;
  }
};

// In the order of the reference page: a block comes before its keys.
[[nodiscard]] std::span<const Row> schema() noexcept;

// Keys that files for other versions of this schema may have and that this version ignores, with a
// warning. A block stands for everything in it.
[[nodiscard]] std::span<const std::string_view> ignored_keys() noexcept;

// The row of a key in a block; nullptr if there is none.
[[nodiscard]] const Row* find_row(std::string_view parent, std::string_view key) noexcept;
[[nodiscard]] bool is_ignored(std::string_view parent, std::string_view key) noexcept;

}  // namespace titanium::config
