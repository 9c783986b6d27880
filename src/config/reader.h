// SPDX-License-Identifier: MIT
#pragma once

#include "config/config.h"
#include "config/document.h"
#include "config/section.h"

namespace titanium::config {

// Reads a whole document and checks it, each value by itself and all of them together. The result
// is of use only if the report has no errors afterwards.
[[nodiscard]] Config read_config(ReadContext& context, const Value& root);

}  // namespace titanium::config
