// SPDX-License-Identifier: MIT
#include "titanium/version.h"

namespace titanium {

std::string_view version() noexcept { return TITANIUM_VERSION; }

}  // namespace titanium
