// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace titanium::route {

// True if a query ("a=1&b=2", without the question mark) has a parameter of this name with this
// value. Names and values of the query are percent-decoded, and '+' is a blank, as HTML forms have
// it. A parameter without '=' has an empty value. Never allocates.
[[nodiscard]] bool query_has(std::string_view query, std::string_view name,
                             std::string_view value) noexcept;

}  // namespace titanium::route
