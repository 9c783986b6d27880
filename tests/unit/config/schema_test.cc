// SPDX-License-Identifier: MIT
#include "config/schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace titanium::config {
namespace {

TEST(Schema, HasEachKeyOnceAndInABlockThatStandsBeforeIt) {
  std::set<std::string_view> blocks = {""};
  std::set<std::string_view> paths;
  for (const Row& row : schema()) {
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_TRUE(blocks.contains(row.parent())) << row.path;
    if (row.type == Type::section || row.type == Type::sections) blocks.insert(row.path);
    EXPECT_EQ(row.type == Type::sections, row.path.ends_with("[]")) << row.path;
  }
  for (const std::string_view path : ignored_keys()) {
    EXPECT_TRUE(paths.insert(path).second) << path;
    EXPECT_TRUE(blocks.contains(Row{.path = path}.parent())) << path;
  }
}

TEST(Schema, AllowsAsManyRetriesAsAnExchangeMakes) {
  // An exchange tries eight times in all, the first time included.
  EXPECT_EQ(find_row("server.timeouts", "networkFailureRetryAttempts")->max, 7);
}

TEST(FindRow, FindsKeysInTheirBlockOnly) {
  ASSERT_NE(find_row("listeners[]", "port"), nullptr);
  EXPECT_EQ(find_row("listeners[]", "port")->max, 65535);
  EXPECT_EQ(find_row("", "listeners")->path, "listeners[]");
  EXPECT_EQ(find_row("clusters[]", "destinations")->path, "clusters[].destinations[]");
  EXPECT_EQ(find_row("server", "port"), nullptr);
  EXPECT_EQ(find_row("listeners[]", "Port"), nullptr) << "keys are case-sensitive";
  EXPECT_TRUE(is_ignored("server", "enableHttp3"));
  EXPECT_FALSE(is_ignored("", "enableHttp3"));
}

}  // namespace
}  // namespace titanium::config
