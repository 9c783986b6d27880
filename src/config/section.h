// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/document.h"
#include "config/report.h"
#include "config/schema.h"

namespace titanium::config {

// Where messages go and where relative file names start. Outlives all sections.
struct ReadContext {
  Report& report;
  std::filesystem::path base_folder;
};

// One block of the file and its rows of the schema. The constructor reports what the schema does
// not know; each read() takes one key, checks it by its row, reports what is wrong and else stores
// it. An absent or null key leaves the value that is there: the default.
//
// A key that read() is called with must be in the schema; that is an invariant of this program.
class Section {
 public:
  // The whole file.
  Section(ReadContext& context, const Value& root);

  // True if the file has this block.
  [[nodiscard]] bool is_given() const noexcept { return value_ != nullptr; }
  // True if the block has this key with a value.
  [[nodiscard]] bool has(std::string_view key) const;
  // The text of a key as it stands in the file; empty if there is none.
  [[nodiscard]] std::string_view raw_text(std::string_view key) const;
  [[nodiscard]] int line() const noexcept { return position_.line; }

  void read(std::string_view key, bool& out) const;
  void read(std::string_view key, std::string& out) const;
  void read(std::string_view key, Duration& out) const;
  void read(std::string_view key, double& out) const;
  // The row's range fits into Number.
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  void read(std::string_view key, Number& out) const {
    if (const auto value = read_integer(key)) out = static_cast<Number>(*value);
  }
  template <typename T>
  void read(std::string_view key, std::optional<T>& out) const {
    if (!has(key)) return;
    T value{};
    read(key, value);
    out = std::move(value);
  }

  // The row's words are in the order of the enumerators.
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void read(std::string_view key, Enum& out) const {
    if (const auto index = read_word(key)) out = static_cast<Enum>(*index);
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void read(std::string_view key, std::vector<Enum>& out) const {
    if (!has(key)) return;
    out.clear();
    for (const std::size_t index : read_words(key)) out.push_back(static_cast<Enum>(index));
  }

  // Appends the texts of a list.
  void read(std::string_view key, std::vector<std::string>& out) const;
  void read(std::string_view key, Pairs& out) const;

  // A block within this one; is_given() tells whether there is one.
  [[nodiscard]] Section child(std::string_view key) const;
  // The items of a list of blocks. Items that are no blocks were reported, and stand here as blocks
  // without keys, so that indices are those of the file.
  [[nodiscard]] std::vector<Section> children(std::string_view key) const;

  // Reports something about a key, at its place, or at the block if it is absent. An empty key
  // means the block itself.
  void error(std::string_view key, std::string message, std::string hint = {}) const;
  void warning(std::string_view key, std::string message, std::string hint = {}) const;

  // False if this key, a block that it is in, or something in it was reported as an error. Checks
  // that compare values ask first: one mistake gives one message.
  [[nodiscard]] bool is_sound(std::string_view key) const;

  // "listeners[0].port"
  [[nodiscard]] std::string path_of(std::string_view key) const;

 private:
  Section(ReadContext& context, const Value* value, Position position, std::string path,
          std::string schema_path);

  void check_keys() const;
  [[nodiscard]] Position position_of(std::string_view key) const;
  void report_unknown(const Member& member) const;
  // The member if it has a value; reports it if it is required and has none.
  [[nodiscard]] const Member* find(const Row& row) const;
  // Of a required key without a value. If a key is there that is probably it, mistyped, the report
  // stands at that place, behind the one about the unknown key: the cause comes first.
  void report_missing(const Row& row, const Member* without_value) const;
  [[nodiscard]] const Member* mistyped_for(const Row& row) const;
  [[nodiscard]] const Row& row_of(std::string_view key) const;
  // The text of a scalar, or nullptr after a report.
  [[nodiscard]] const std::string* scalar(const Row& row, const Value& value, Position position,
                                          const std::string& path) const;
  [[nodiscard]] std::optional<std::string> text(const Row& row, const Value& value,
                                                Position position, const std::string& path) const;
  [[nodiscard]] std::optional<std::size_t> word(const Row& row, const Value& value,
                                                Position position, const std::string& path) const;
  [[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view key) const;
  [[nodiscard]] std::optional<std::size_t> read_word(std::string_view key) const;
  [[nodiscard]] std::vector<std::size_t> read_words(std::string_view key) const;
  void wrong_kind(const Row& row, Position position, const std::string& path) const;

  ReadContext* context_;
  const Value* value_;  // A map, or nullptr.
  Position position_;
  std::string path_;         // "listeners[0]"
  std::string schema_path_;  // "listeners[]"
};

}  // namespace titanium::config
