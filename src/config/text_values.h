// SPDX-License-Identifier: MIT
//
// The rules for values that are written as text.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/schema.h"

namespace titanium::config {

struct TextProblem {
  std::string message;
  std::string hint;
};

// Checks a text of one of the textual types of the schema and returns it in the form that Config
// has: hosts in lower case and without brackets, file names absolute. A path is checked only as far
// as every pathKind asks for.
[[nodiscard]] std::expected<std::string, TextProblem> check_text(
    Type type, std::string_view text, const std::filesystem::path& base_folder);

// "true", "yes", "on" and their opposites, in any case.
[[nodiscard]] std::expected<bool, TextProblem> parse_boolean(std::string_view text);
[[nodiscard]] std::expected<std::int64_t, TextProblem> parse_integer(std::string_view text,
                                                                     std::int64_t min,
                                                                     std::int64_t max);
[[nodiscard]] std::expected<double, TextProblem> parse_number(std::string_view text,
                                                              std::int64_t min, std::int64_t max);

// How a message names a value of this type: "a whole number".
[[nodiscard]] std::string_view type_name(Type type) noexcept;

// PKCS#12 files hold the key, too.
[[nodiscard]] bool is_pkcs12(std::string_view path) noexcept;

}  // namespace titanium::config
