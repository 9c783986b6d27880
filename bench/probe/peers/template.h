// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace titanium::probe {

struct TemplateValue {
  std::string_view key;
  std::string value;
};

// Replaces every `@key@` of a template. A line that is only a key with an empty value disappears.
// Every key must have a value: what is left between two @ would be a mistake in the template.
[[nodiscard]] std::string fill_template(std::string_view text,
                                        std::initializer_list<TemplateValue> values);

}  // namespace titanium::probe
