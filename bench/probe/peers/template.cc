// SPDX-License-Identifier: MIT
#include "peers/template.h"

#include <algorithm>

#include "base/assert.h"

namespace titanium::probe {
namespace {

[[nodiscard]] std::string fill_line(std::string_view line,
                                    std::initializer_list<TemplateValue> values) {
  std::string out;
  while (!line.empty()) {
    const std::size_t begin = line.find('@');
    const std::size_t end = begin == line.npos ? line.npos : line.find('@', begin + 1);
    if (end == line.npos) break;
    const std::string_view key = line.substr(begin + 1, end - begin - 1);
    const auto value = std::ranges::find(values, key, &TemplateValue::key);
    TI_ASSERT(value != values.end());
    out.append(line.substr(0, begin)).append(value->value);
    line.remove_prefix(end + 1);
  }
  return out.append(line);
}

[[nodiscard]] bool is_blank(std::string_view line) {
  return line.find_first_not_of(' ') == std::string_view::npos;
}

}  // namespace

std::string fill_template(std::string_view text, std::initializer_list<TemplateValue> values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t feed = text.find('\n');
    const std::string_view line = text.substr(0, feed);
    const std::string filled = fill_line(line, values);
    // A value of an optional line was empty; blank lines of the template itself stay.
    if (is_blank(line) || !is_blank(filled)) out.append(filled).append("\n");
    if (feed == std::string_view::npos) break;
    text.remove_prefix(feed + 1);
  }
  return out;
}

}  // namespace titanium::probe
