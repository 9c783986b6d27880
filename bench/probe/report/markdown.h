// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/table.h"
#include "results/results.h"

namespace titanium::probe {

// The whole report.
[[nodiscard]] std::string render_markdown(const Results& results, const Tables& tables);

}  // namespace titanium::probe
