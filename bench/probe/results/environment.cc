// SPDX-License-Identifier: MIT
#include "results/environment.h"

#include <nlohmann/json.hpp>

namespace titanium::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kReplaceBadUtf8 = Json::error_handler_t::replace;

// A text as it is, anything else as JSON writes it: `4` and `["a"]` are readable, too.
[[nodiscard]] std::string text_of(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (value.is_null()) return {};
  return value.dump(-1, ' ', false, kReplaceBadUtf8);
}

[[nodiscard]] std::string member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::string() : text_of(*found);
}

// The objects in the array `name`; nothing if there is no such array.
template <typename Take>
void for_each_object(const Json& root, const char* name, Take take) {
  const auto array = root.find(name);
  if (array == root.end() || !array->is_array()) return;
  for (const Json& entry : *array) {
    if (entry.is_object()) take(entry);
  }
}

}  // namespace

std::expected<Environment, std::string> parse_environment(std::string_view json) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return std::unexpected("is not a JSON object");
  Environment environment;
  for_each_object(root, "arms", [&](const Json& arm) {
    if (member(arm, "status").empty()) return;
    environment.absent.push_back({.arm = member(arm, "arm"),
                                  .row_key = member(arm, "row_key"),
                                  .product = member(arm, "product"),
                                  .status = member(arm, "status"),
                                  .reason = member(arm, "reason")});
  });
  for_each_object(root, "products", [&](const Json& product) {
    environment.products.push_back({.name = member(product, "name"),
                                    .version = member(product, "version"),
                                    .flags = member(product, "flags")});
  });
  if (const auto machine = root.find("machine"); machine != root.end() && machine->is_object()) {
    for (const auto& [name, value] : machine->items()) {
      environment.machine.emplace_back(name, text_of(value));
    }
  }
  environment.command = member(root, "command");
  return environment;
}

}  // namespace titanium::probe
