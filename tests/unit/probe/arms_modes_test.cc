// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "arms/modes.h"

namespace titanium::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

[[nodiscard]] std::vector<std::string> names(const std::vector<Arm>& arms) {
  std::vector<std::string> list;
  for (const Arm& arm : arms) list.push_back(arm.name);
  return list;
}

[[nodiscard]] std::vector<Arm> arms_of(std::string_view mode) {
  auto arms = arms_of_mode(mode);
  EXPECT_TRUE(arms) << (arms ? "" : arms.error());
  return arms ? *arms : std::vector<Arm>();
}

TEST(Modes, AllNameRowsThatExist) {
  const std::vector<std::string> known = row_keys(all_arms());
  for (const ModeRow& mode : modes()) {
    const std::vector<std::string> keys = row_keys(arms_of(mode.name));
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(mode.rows, ' ')) + 1, keys.size())
        << mode.name << ": a row of it is not in the table";
    for (const std::string& key : keys) EXPECT_THAT(known, testing::Contains(key));
  }
}

TEST(Modes, AllHaveAnArmOfTitanium) {
  for (const ModeRow& mode : modes()) {
    const std::vector<Arm> arms = arms_of(mode.name);
    EXPECT_TRUE(std::ranges::contains(arms, Product::titanium, &Arm::product)) << mode.name;
  }
}

TEST(Modes, CompareHasTheFourCells) {
  EXPECT_THAT(row_keys(arms_of("compare")),
              ElementsAre("h1c-h1c", "h1c-h1tls", "h1tls-h1c", "h1tls-h1tls"));
}

// Every cell belongs to the same or to a bridge, and to none of both twice.
TEST(Modes, SameAndBridgesDifferInTheVersion) {
  const std::vector<std::string> same = row_keys(arms_of("compare-same"));
  const std::vector<std::string> bridges = row_keys(arms_of("compare-bridges"));
  const auto version = [](std::string_view wire) { return wire.substr(0, 2); };
  for (const Arm& arm : arms_of("compare-matrix")) {
    const std::string_view key = arm.row_key;
    const std::string_view client = key.substr(0, key.find('-'));
    const std::string_view origin = key.substr(key.find('-') + 1);
    EXPECT_EQ(std::ranges::contains(same, key), client == origin) << key;
    EXPECT_EQ(std::ranges::contains(bridges, key), version(client) != version(origin)) << key;
  }
}

TEST(Modes, SpotIsShort) {
  EXPECT_THAT(
      names(arms_of("compare-spot")),
      ElementsAre("bare-relay", "nginx-reverse-http1", "haproxy-reverse-http1", "twp-reverse-http1",
                  "nginx-reverse-http1-tls", "haproxy-reverse-http1-tls", "twp-reverse-http1-tls"));
}

TEST(Modes, OneArmGoesByItsNameOrItsMode) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"reverse-http1", "twp-reverse-http1"},
      {"twp-reverse-http1", "twp-reverse-http1"},
      {"mitm-http2-to-http1", "twp-reverse-http2-to-https-http1"},
      {"nginx-reverse-http1-tls", "nginx-reverse-http1-tls"},
      {"origin-direct", "origin-direct"},
      {"nginx-grpc-http2", "nginx-reverse-grpc"},
      {"reverse-http2", "twp-reverse-http2"},
      {"reverse-http2-grpc", "twp-reverse-http2-grpc"},
      {"bare-reverse-http1-tls", "bare-reverse-http1-tls"},
      {"reverse-http1-tls-body64k", "twp-reverse-http1-tls-body64k"},
  };
  for (const auto& [mode, arm] : cases) {
    EXPECT_THAT(names(arms_of(mode)), ElementsAre(std::string(arm))) << mode;
  }
}

TEST(Modes, AnUnknownOneIsToldWhatThereIs) {
  const auto arms = arms_of_mode("compare-bodie");
  ASSERT_FALSE(arms);
  EXPECT_THAT(arms.error(), HasSubstr("--mode"));
  EXPECT_THAT(arms.error(), HasSubstr("did you mean 'compare-bodies'?"));
  for (const ModeRow& mode : modes()) {
    EXPECT_THAT(arms.error(), HasSubstr(std::string(mode.name)));
  }
}

TEST(ArmContains, KeepsEitherPart) {
  EXPECT_THAT(names(keep_containing(arms_of("compare-spot"), "bare,twp")),
              ElementsAre("bare-relay", "twp-reverse-http1", "twp-reverse-http1-tls"));
}

TEST(ArmContains, ADollarMeansTheEnd) {
  EXPECT_THAT(names(keep_containing(arms_of("compare-spot"), "-http1$")),
              ElementsAre("nginx-reverse-http1", "haproxy-reverse-http1", "twp-reverse-http1"));
}

TEST(ArmContains, NothingKeepsAll) {
  const std::vector<Arm> all = arms_of("compare");
  EXPECT_EQ(keep_containing(all, "").size(), all.size());
  EXPECT_THAT(keep_containing(all, "squid"), IsEmpty());
}

// Whatever the number of shards: each arm is in exactly one, and rows are not split.
TEST(ArmShard, PartitionsTheRowsCompletely) {
  const std::vector<Arm> all = arms_of("compare-matrix");
  for (std::size_t count = 1; count <= 30; ++count) {
    std::map<std::string, std::size_t> shard_of_row;
    std::size_t arms = 0;
    for (std::size_t index = 1; index <= count; ++index) {
      const auto shard = keep_shard(all, std::to_string(index) + "/" + std::to_string(count));
      ASSERT_TRUE(shard);
      arms += shard->size();
      for (const Arm& arm : *shard) {
        const auto [row, inserted] = shard_of_row.try_emplace(arm.row_key, index);
        EXPECT_EQ(row->second, index) << arm.row_key << " is split";
      }
    }
    EXPECT_EQ(arms, all.size()) << count;
  }
}

TEST(ArmShard, TakesOneRow) {
  const auto shard = keep_shard(arms_of("compare"), "h1c-h1tls");
  ASSERT_TRUE(shard);
  EXPECT_THAT(row_keys(*shard), ElementsAre("h1c-h1tls"));
  EXPECT_EQ(keep_shard(arms_of("compare"), "all")->size(), arms_of("compare").size());
}

TEST(ArmShard, RefusesWhatIsNone) {
  for (const char* text :
       {"0/2", "3/2", "1/0", "1/", "/2", "a/b", "1", "h9-h9", "", "1/2/3", "-1/2"}) {
    const auto shard = keep_shard(arms_of("compare"), text);
    ASSERT_FALSE(shard) << text;
    EXPECT_THAT(shard.error(), HasSubstr("--arm-shard"));
    EXPECT_THAT(shard.error(), HasSubstr("h1c-h1tls")) << "rows are not listed";
  }
}

}  // namespace
}  // namespace titanium::probe
