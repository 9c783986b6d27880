// SPDX-License-Identifier: MIT
//
// What a run leaves beside its result file, in FILE-environment.json: the machine, the products and
// their flags, and why arms are missing.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titanium::probe {

struct Environment {
  // An arm that was not run.
  struct AbsentArm {
    std::string arm;
    std::string row_key;
    std::string product;
    std::string status;  // "not installed" or "not possible".
    std::string reason;
  };
  struct Product {
    std::string name;
    std::string version;
    std::string flags;
  };
  std::vector<AbsentArm> absent;
  std::vector<Product> products;
  std::vector<std::pair<std::string, std::string>> machine;  // In the order of the file.
  std::string command;
};

// Whatever of it is there; members that are unknown or of another type are ignored. The error is a
// sentence.
[[nodiscard]] std::expected<Environment, std::string> parse_environment(std::string_view json);

}  // namespace titanium::probe
