// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace titanium::config {

// docs/configuration.md, rendered from the schema.
[[nodiscard]] std::string render_reference();

}  // namespace titanium::config
