// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/table.h"

namespace titanium::probe {

// CPU per request as horizontal bars, a panel per table and a group of bars per row: an SVG image
// without scripts, readable on light and dark pages.
[[nodiscard]] std::string render_chart(const Tables& tables);

}  // namespace titanium::probe
