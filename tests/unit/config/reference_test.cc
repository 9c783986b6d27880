// SPDX-License-Identifier: MIT
#include "config/reference.h"

#include <gmock/gmock.h>

#include <iterator>

#include "config/schema.h"
#include "unit/config/support.h"

namespace titanium::config {
namespace {

TEST(Reference, IsTheCommittedPage) {
  const auto path =
      std::filesystem::path(__FILE__).parent_path() / "../../../docs/configuration.md";
  std::ifstream file(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(page, render_reference())
      << "The schema has changed. Run: titanium config-docs > docs/configuration.md";
}

TEST(Reference, ShowsAnExampleThatLoads) {
  EXPECT_THAT(messages(reference_example()), testing::IsEmpty());
  EXPECT_TRUE(render_reference().contains(reference_example()));
}

TEST(Reference, NamesEveryKey) {
  const std::string page = render_reference();
  for (const Row& row : schema()) {
    EXPECT_TRUE(page.contains("| `" + std::string(row.key()) + "` | ")) << row.path;
  }
  for (const std::string_view path : ignored_keys()) {
    EXPECT_TRUE(page.contains("- `" + std::string(path) + "`\n")) << path;
  }
}

}  // namespace
}  // namespace titanium::config
