// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace titanium::config {

// docs/configuration.md, rendered from the schema.
[[nodiscard]] std::string render_reference();

// The twp.yaml that the page shows.
[[nodiscard]] std::string_view reference_example() noexcept;

}  // namespace titanium::config
