// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace titanium {

/// The version of the library, e.g. "0.1.0" (https://semver.org). Valid for ever; any thread.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace titanium
