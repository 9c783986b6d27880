// SPDX-License-Identifier: MIT
//
// From the command line to the arms that will be measured here, and why others will not.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "arms/arm.h"
#include "options.h"
#include "run/result_files.h"

namespace titanium::probe {

struct Selection {
  std::vector<Arm> arms;
  std::vector<AbsentArm> absent;
  std::map<Product, UsedProduct> products;  // Of `arms`, without controls.
};

// All arms that the options name, whether or not they can run. The error is for the user.
[[nodiscard]] std::expected<std::vector<Arm>, std::string> chosen_arms(const RampOptions& options);

// Sorts out what can not run here. Errors: a program that was named does not exist.
[[nodiscard]] std::expected<Selection, std::string> select_arms(const RampOptions& options);

// The load of an arm as the flags change it. Then the row is another one: "…-custom".
void apply(const LoadOverrides& overrides, Arm& arm);

}  // namespace titanium::probe
