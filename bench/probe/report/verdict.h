// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/targets.h"
#include "results/results.h"

namespace titanium::probe {

// How one row of the results stands to a target.
struct Verdict {
  enum class Kind : std::uint8_t { pass, falls_short, not_measured };
  Kind kind = Kind::not_measured;
  std::string row;   // Row key or arm.
  std::string text;  // The figures, with the arms they are of; or why there are none.
};

// One for each row that the target is about, measured or not.
[[nodiscard]] std::vector<Verdict> judge(const Target& target, const Results& results);

}  // namespace titanium::probe
