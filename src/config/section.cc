// SPDX-License-Identifier: MIT
#include "config/section.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "config/text_values.h"
#include "http/field.h"

namespace titanium::config {
namespace {

std::string join(std::string_view parent, std::string_view key) {
  return parent.empty() ? std::string(key) : fmt::format("{}.{}", parent, key);
}

// The keys a block may have, for suggestions.
std::vector<std::string_view> known_keys(std::string_view parent) {
  std::vector<std::string_view> keys;
  for (const Row& row : schema()) {
    if (row.parent() == parent) keys.push_back(row.key());
  }
  for (const std::string_view path : ignored_keys()) {
    const Row row{.path = path};
    if (row.parent() == parent) keys.push_back(row.key());
  }
  return keys;
}

// An empty file is a block without keys.
bool is_block(const Value& root) {
  return root.kind == Value::Kind::map || root.kind == Value::Kind::null;
}

std::string listed(std::span<const std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

}  // namespace

Section::Section(ReadContext& context, const Value& root)
    : Section(context, is_block(root) ? &root : nullptr, {1, 1}, "", "") {
  if (!is_block(root)) {
    context.report.error(root.position, "", "the file must be a block of keys");
  }
}

Section::Section(ReadContext& context, const Value* value, Position position, std::string path,
                 std::string schema_path)
    : context_(&context),
      value_(value),
      position_(position),
      path_(std::move(path)),
      schema_path_(std::move(schema_path)) {
  if (value_ != nullptr) check_keys();
}

void Section::check_keys() const {
  for (const Member& member : value_->members) {
    if (find_row(schema_path_, member.key) != nullptr) continue;
    if (is_ignored(schema_path_, member.key)) {
      context_->report.warning(member.position, join(path_, member.key),
                               "is not supported in this version and is ignored");
    } else {
      report_unknown(member);
    }
  }
}

void Section::report_unknown(const Member& member) const {
  const std::string_view meant = nearest(member.key, known_keys(schema_path_));
  context_->report.warning(member.position, path_,
                           fmt::format("unknown key {} is ignored", in_quotes(member.key)),
                           meant.empty() ? "" : fmt::format("did you mean '{}'?", meant));
}

const Row& Section::row_of(std::string_view key) const {
  const Row* row = find_row(schema_path_, key);
  TI_ASSERT(row != nullptr);
  return *row;
}

const Member* Section::find(const Row& row) const {
  if (value_ == nullptr) return nullptr;
  const auto member = std::ranges::find(value_->members, row.key(), &Member::key);
  if (member != value_->members.end() && member->value.kind != Value::Kind::null) return &*member;
  if (row.required) {
    report_missing(row, member == value_->members.end() ? nullptr : &*member);
  }
  return nullptr;
}

void Section::report_missing(const Row& row, const Member* without_value) const {
  const Member* const place = without_value != nullptr ? without_value : mistyped_for(row);
  context_->report.error(place == nullptr ? position_ : place->position, join(path_, row.key()),
                         "is required");
}

const Member* Section::mistyped_for(const Row& row) const {
  const std::vector<std::string_view> known = known_keys(schema_path_);
  const auto found = std::ranges::find_if(value_->members, [&](const Member& member) {
    return find_row(schema_path_, member.key) == nullptr && !is_ignored(schema_path_, member.key) &&
           nearest(member.key, known) == row.key();
  });
  return found == value_->members.end() ? nullptr : &*found;
}

bool Section::has(std::string_view key) const {
  if (value_ == nullptr) return false;
  const Value* value = value_->find(key);
  return value != nullptr && value->kind != Value::Kind::null;
}

std::string_view Section::raw_text(std::string_view key) const {
  const Value* value = value_ == nullptr ? nullptr : value_->find(key);
  return value == nullptr ? std::string_view{} : std::string_view(value->text);
}

std::string Section::path_of(std::string_view key) const {
  return key.empty() ? path_ : join(path_, key);
}

bool Section::is_sound(std::string_view key) const {
  return context_->report.is_sound(path_of(key));
}

Position Section::position_of(std::string_view key) const {
  if (value_ == nullptr) return position_;
  const auto member = std::ranges::find(value_->members, key, &Member::key);
  return member == value_->members.end() ? position_ : member->position;
}

void Section::error(std::string_view key, std::string message, std::string hint) const {
  context_->report.error(position_of(key), path_of(key), std::move(message), std::move(hint));
}

void Section::warning(std::string_view key, std::string message, std::string hint) const {
  context_->report.warning(position_of(key), path_of(key), std::move(message), std::move(hint));
}

void Section::wrong_kind(const Row& row, Position position, const std::string& path) const {
  context_->report.error(position, path, fmt::format("must be {}", type_name(row.type)));
}

const std::string* Section::scalar(const Row& row, const Value& value, Position position,
                                   const std::string& path) const {
  if (value.kind == Value::Kind::scalar) return &value.text;
  wrong_kind(row, position, path);
  return nullptr;
}

std::optional<std::string> Section::text(const Row& row, const Value& value, Position position,
                                         const std::string& path) const {
  const std::string* raw = scalar(row, value, position, path);
  if (raw == nullptr) return std::nullopt;
  auto checked = check_text(row.type, *raw, context_->base_folder);
  if (checked) return *std::move(checked);
  context_->report.error(position, path, checked.error().message, checked.error().hint);
  return std::nullopt;
}

std::optional<std::size_t> Section::word(const Row& row, const Value& value, Position position,
                                         const std::string& path) const {
  const std::string* raw = scalar(row, value, position, path);
  if (raw == nullptr) return std::nullopt;
  const auto match = std::ranges::find_if(
      row.words, [&](std::string_view word) { return http::equals_ignore_case(word, *raw); });
  if (match != row.words.end()) return static_cast<std::size_t>(match - row.words.begin());
  const std::string_view meant = nearest(*raw, row.words);
  context_->report.error(position, path,
                         fmt::format("{} is not one of: {}", in_quotes(*raw), listed(row.words)),
                         meant.empty() ? "" : fmt::format("did you mean '{}'?", meant));
  return std::nullopt;
}

void Section::read(std::string_view key, bool& out) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return;
  const std::string path = join(path_, key);
  const std::string* raw = scalar(row, member->value, member->position, path);
  if (raw == nullptr) return;
  if (const auto value = parse_boolean(*raw)) {
    out = *value;
  } else {
    context_->report.error(member->position, path, value.error().message);
  }
}

void Section::read(std::string_view key, std::string& out) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return;
  if (auto value = text(row, member->value, member->position, join(path_, key))) {
    out = *std::move(value);
  }
}

void Section::read(std::string_view key, double& out) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return;
  const std::string path = join(path_, key);
  const std::string* raw = scalar(row, member->value, member->position, path);
  if (raw == nullptr) return;
  if (const auto value = parse_number(*raw, row.min, row.max)) {
    out = *value;
  } else {
    context_->report.error(member->position, path, value.error().message);
  }
}

void Section::read(std::string_view key, Duration& out) const {
  double seconds = -1;
  read(key, seconds);
  if (seconds < 0) return;  // Absent, or reported.
  const auto rounded = Duration(std::llround(seconds * 1000));
  // Rounded to 0 it would mean "off", the opposite of what was asked for.
  if (seconds > 0 && rounded == Duration::zero()) {
    error(key, "is shorter than a millisecond", "0 switches the time-out off");
    return;
  }
  out = rounded;
}

std::optional<std::int64_t> Section::read_integer(std::string_view key) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return std::nullopt;
  const std::string path = join(path_, key);
  const std::string* raw = scalar(row, member->value, member->position, path);
  if (raw == nullptr) return std::nullopt;
  const auto value = parse_integer(*raw, row.min, row.max);
  if (value) return *value;
  context_->report.error(member->position, path, value.error().message);
  return std::nullopt;
}

std::optional<std::size_t> Section::read_word(std::string_view key) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return std::nullopt;
  return word(row, member->value, member->position, join(path_, key));
}

std::vector<std::size_t> Section::read_words(std::string_view key) const {
  std::vector<std::size_t> indices;
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return indices;
  const std::string path = join(path_, key);
  if (member->value.kind != Value::Kind::list) {
    wrong_kind(row, member->position, path);
    return indices;
  }
  for (std::size_t i = 0; i < member->value.items.size(); ++i) {
    const Value& item = member->value.items[i];
    if (const auto index = word(row, item, item.position, fmt::format("{}[{}]", path, i))) {
      indices.push_back(*index);
    }
  }
  return indices;
}

void Section::read(std::string_view key, std::vector<std::string>& out) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return;
  const std::string path = join(path_, key);
  if (member->value.kind != Value::Kind::list) {
    wrong_kind(row, member->position, path);
    return;
  }
  for (std::size_t i = 0; i < member->value.items.size(); ++i) {
    const Value& item = member->value.items[i];
    if (item.kind != Value::Kind::scalar) {
      context_->report.error(item.position, fmt::format("{}[{}]", path, i), "must be a text");
      continue;
    }
    if (auto value = text(row, item, item.position, fmt::format("{}[{}]", path, i))) {
      out.push_back(*std::move(value));
    }
  }
}

void Section::read(std::string_view key, Pairs& out) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return;
  const std::string path = join(path_, key);
  if (member->value.kind != Value::Kind::map) {
    wrong_kind(row, member->position, path);
    return;
  }
  for (const Member& pair : member->value.members) {
    // The name is not part of the path: it may hold anything.
    if (row.type == Type::header_pairs && !http::is_token(pair.key)) {
      context_->report.error(pair.position, path,
                             fmt::format("{} is not a field name", in_quotes(pair.key)));
      continue;
    }
    if (pair.value.kind != Value::Kind::scalar) {
      context_->report.error(pair.position, path,
                             fmt::format("the value of {} must be a text", in_quotes(pair.key)));
      continue;
    }
    if (row.type == Type::header_pairs && !http::is_field_value(pair.value.text)) {
      context_->report.error(
          pair.position, path,
          fmt::format("the value of {} cannot occur in a field", in_quotes(pair.key)));
      continue;
    }
    out.emplace_back(pair.key, pair.value.text);
  }
}

Section Section::child(std::string_view key) const {
  const Row& row = row_of(key);
  const Member* member = find(row);
  const std::string path = join(path_, key);
  if (member == nullptr) return {*context_, nullptr, position_, path, std::string(row.path)};
  const bool is_map = member->value.kind == Value::Kind::map;
  if (!is_map) wrong_kind(row, member->position, path);
  return {*context_, is_map ? &member->value : nullptr, member->position, path,
          std::string(row.path)};
}

std::vector<Section> Section::children(std::string_view key) const {
  std::vector<Section> sections;
  const Row& row = row_of(key);
  const Member* member = find(row);
  if (member == nullptr) return sections;
  const std::string path = join(path_, key);
  if (member->value.kind != Value::Kind::list) {
    wrong_kind(row, member->position, path);
    return sections;
  }
  for (std::size_t i = 0; i < member->value.items.size(); ++i) {
    const Value& item = member->value.items[i];
    const std::string item_path = fmt::format("{}[{}]", path, i);
    const bool is_map = item.kind == Value::Kind::map;
    if (!is_map) context_->report.error(item.position, item_path, "must be a block of keys");
    sections.push_back(
        {*context_, is_map ? &item : nullptr, item.position, item_path, std::string(row.path)});
  }
  return sections;
}

}  // namespace titanium::config
