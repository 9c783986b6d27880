// SPDX-License-Identifier: MIT
//
// The only file that knows yaml-cpp.
#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>

#include "config/document.h"

namespace titanium::config {
namespace {

// yaml-cpp counts from 0, and has -1 for "unknown".
Position position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

class Builder {
 public:
  explicit Builder(std::vector<Diagnostic>& problems) : problems_(problems) {}

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  Value build(const YAML::Node& node, int depth) {
    Value value{.kind = Value::Kind::null,
                .position = position_of(node.Mark()),
                .text = {},
                .items = {},
                .members = {}};
    if (is_over(++nodes_ > kMaxNodes, value.position,
                "the file has more than 200000 values, aliases expanded") ||
        is_over(depth > kMaxDepth, value.position, "the file is nested more than 64 levels deep")) {
      return value;
    }
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        value.kind = Value::Kind::scalar;
        value.text = take_text(node, value.position);
        break;
      case YAML::NodeType::Sequence:
        value.kind = Value::Kind::list;
        for (const YAML::Node& item : node) {
          if (stopped_) break;
          value.items.push_back(build(item, depth + 1));
        }
        break;
      case YAML::NodeType::Map:
        value.kind = Value::Kind::map;
        build_members(node, depth, value);
        break;
    }
    return value;
  }

 private:
  void build_members(const YAML::Node& node, int depth, Value& value) {
    std::unordered_map<std::string, int> lines;  // Key to the line of its first use.
    for (const auto& pair : node) {
      if (stopped_) return;
      const Position position = position_of(pair.first.Mark());
      if (!pair.first.IsScalar()) {
        add_problem(position, "a key must be a text");
        continue;
      }
      std::string key = take_text(pair.first, position);
      if (key == "<<") {
        add_problem(position, "merge keys ('<<') are not supported",
                    "write the keys out, or use an alias for the whole block");
        continue;
      }
      if (const auto [first, is_new] = lines.try_emplace(key, position.line); !is_new) {
        add_problem(position, fmt::format("the key {} is given twice, first in line {}",
                                          in_quotes(key), first->second));
        continue;
      }
      value.members.push_back(
          {.key = std::move(key), .position = position, .value = build(pair.second, depth + 1)});
    }
  }

  std::string take_text(const YAML::Node& node, Position position) {
    const std::string& text = node.Scalar();
    text_bytes_ += text.size();
    if (is_over(text_bytes_ > kMaxTextBytes, position,
                "the file has more than 16 MiB of text, aliases expanded")) {
      return {};
    }
    return text;
  }

  // True: a bound was reached. Says so once, and ends the walk.
  bool is_over(bool over, Position position, std::string_view message) {
    if (over && !stopped_) {
      stopped_ = true;
      add_problem(position, std::string(message));
    }
    return stopped_;
  }

  void add_problem(Position position, std::string message, std::string hint = {}) {
    problems_.push_back({.severity = Severity::error,
                         .file = {},
                         .position = position,
                         .path = {},
                         .message = std::move(message),
                         .hint = std::move(hint)});
  }

  std::vector<Diagnostic>& problems_;
  std::size_t nodes_ = 0;
  std::size_t text_bytes_ = 0;
  bool stopped_ = false;
};

Diagnostic syntax_problem(Position position, std::string_view message) {
  return {.severity = Severity::error,
          .file = {},
          .position = position,
          .path = {},
          .message = fmt::format("not valid YAML: {}", message),
          .hint = {}};
}

}  // namespace

const Value* Value::find(std::string_view key) const noexcept {
  const auto member = std::ranges::find(members, key, &Member::key);
  return member == members.end() ? nullptr : &member->value;
}

ParsedDocument parse_yaml(std::string_view text) {
  ParsedDocument document;
  try {
    const std::vector<YAML::Node> nodes = YAML::LoadAll(std::string(text));
    if (nodes.size() > 1) {
      document.problems.push_back(syntax_problem(position_of(nodes[1].Mark()),
                                                 "the file has more than one document ('---')"));
      document.is_whole = false;
      return document;
    }
    Builder builder(document.problems);
    if (!nodes.empty()) document.root = builder.build(nodes[0], 0);
    document.is_whole = !builder.stopped();
  } catch (const YAML::Exception& error) {
    document.is_whole = false;
    document.problems.push_back(syntax_problem(position_of(error.mark), error.msg));
  } catch (const std::exception& error) {
    document.is_whole = false;
    document.problems.push_back(syntax_problem({}, error.what()));
  }
  return document;
}

}  // namespace titanium::config
