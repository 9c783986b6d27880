// SPDX-License-Identifier: MIT
#include "cluster/balancer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

namespace titanium::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(1'000)};
constexpr std::uint64_t kSeed = 42;

std::vector<DestinationOptions> weighted(std::initializer_list<std::uint32_t> weights) {
  std::vector<DestinationOptions> destinations;
  for (const std::uint32_t weight : weights) {
    destinations.push_back(
        {.id = std::to_string(destinations.size()), .address = "origin.example", .weight = weight});
  }
  return destinations;
}

// The next `count` choices as letters, without any request staying active.
std::string choices(Balancer& balancer, int count, std::span<const std::size_t> exclude = {}) {
  std::string letters;
  for (int i = 0; i < count; ++i) {
    const auto picked = balancer.pick(kNow, exclude);
    letters += picked ? static_cast<char>('A' + *picked) : '-';
  }
  return letters;
}

void fail(Balancer& balancer, std::size_t index, int times, TimePoint now = kNow) {
  for (int i = 0; i < times; ++i) {
    balancer.started(index);
    balancer.finished(index, Outcome::failed, now);
  }
}

TEST(RoundRobin, SpreadsByWeightAndEvenly) {
  struct Case {
    std::initializer_list<std::uint32_t> weights;
    std::string_view expected;
  };
  const Case cases[] = {
      {{1}, "AAAA"},      {{1, 1, 1}, "ABCABC"}, {{5, 1, 1}, "AABACAAAABACAA"},
      {{2, 1}, "ABAABA"}, {{1, 2, 3}, "CBACBC"},
  };
  for (const Case& c : cases) {
    Balancer balancer(Algorithm::round_robin, weighted(c.weights), kSeed);
    EXPECT_EQ(choices(balancer, static_cast<int>(c.expected.size())), c.expected);
  }
}

TEST(RoundRobin, GivesEachExactlyItsShareOverAFullRound) {
  Balancer balancer(Algorithm::round_robin, weighted({7, 3, 90}), kSeed);
  std::array<int, 3> counts{};
  for (int i = 0; i < 1'000; ++i) ++counts[balancer.pick(kNow).value()];
  EXPECT_EQ(counts, (std::array{70, 30, 900}));
}

TEST(RoundRobin, SurvivesTheLargestWeights) {
  Balancer balancer(Algorithm::round_robin, weighted({4'294'967'295, 4'294'967'295}), kSeed);
  EXPECT_EQ(choices(balancer, 4), "ABAB");
}

TEST(Random, ChoosesByWeight) {
  Balancer balancer(Algorithm::random, weighted({1, 2, 7}), kSeed);
  std::array<int, 3> counts{};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++counts[balancer.pick(kNow).value()];
  // The standard deviation is below 160; the seed makes the outcome the same each time.
  EXPECT_LT(std::abs(counts[0] - kDraws / 10), 600);
  EXPECT_LT(std::abs(counts[1] - kDraws / 5), 600);
  EXPECT_LT(std::abs(counts[2] - kDraws * 7 / 10), 600);
}

TEST(Random, DependsOnTheSeed) {
  Balancer first(Algorithm::random, weighted({1, 1, 1, 1}), 1);
  Balancer again(Algorithm::random, weighted({1, 1, 1, 1}), 1);
  Balancer other(Algorithm::random, weighted({1, 1, 1, 1}), 2);
  const std::string letters = choices(first, 40);
  EXPECT_EQ(choices(again, 40), letters);
  EXPECT_NE(choices(other, 40), letters);
}

TEST(LeastRequests, ChoosesTheLeastBusy) {
  Balancer balancer(Algorithm::least_requests, weighted({1, 1, 1}), kSeed);
  for (const std::size_t index : {0U, 0U, 1U, 1U, 2U}) balancer.started(index);
  EXPECT_EQ(choices(balancer, 3), "CCC");
  balancer.finished(1, Outcome::answered, kNow);
  balancer.finished(1, Outcome::answered, kNow);
  EXPECT_EQ(choices(balancer, 2), "BB");
  EXPECT_EQ(balancer.active(0), 2U);
  EXPECT_EQ(balancer.active(1), 0U);
}

TEST(LeastRequests, LetsEqualsTakeTurns) {
  Balancer balancer(Algorithm::least_requests, weighted({1, 1, 1}), kSeed);
  EXPECT_EQ(choices(balancer, 6), "ABCABC");
}

TEST(LeastRequests, CountsActiveRequestsPerWeight) {
  Balancer balancer(Algorithm::least_requests, weighted({1, 3}), kSeed);
  std::array<int, 2> counts{};
  for (int i = 0; i < 40; ++i) {
    const std::size_t picked = balancer.pick(kNow).value();
    balancer.started(picked);
    ++counts[picked];
  }
  EXPECT_EQ(counts, (std::array{10, 30}));
}

TEST(Pick, NeverChoosesWhatIsExcluded) {
  for (const auto algorithm :
       {Algorithm::round_robin, Algorithm::random, Algorithm::least_requests}) {
    Balancer balancer(algorithm, weighted({100, 1, 1}), kSeed);
    const std::array<std::size_t, 1> first = {0};
    const std::array<std::size_t, 2> both = {2, 0};
    const std::array<std::size_t, 3> all = {0, 1, 2};
    EXPECT_FALSE(choices(balancer, 50, first).contains('A'));
    EXPECT_EQ(choices(balancer, 3, both), "BBB");
    EXPECT_EQ(balancer.pick(kNow, all), std::nullopt);
  }
}

TEST(Health, SetsADestinationAsideAfterFailuresInARow) {
  Balancer balancer(Algorithm::round_robin, weighted({1, 1}), kSeed);
  fail(balancer, 0, 2);
  EXPECT_FALSE(balancer.is_set_aside(0, kNow));
  balancer.started(0);
  balancer.finished(0, Outcome::answered, kNow);  // A success: the count begins again.
  fail(balancer, 0, 2);
  EXPECT_FALSE(balancer.is_set_aside(0, kNow));
  fail(balancer, 0, 1);
  EXPECT_TRUE(balancer.is_set_aside(0, kNow));
  EXPECT_EQ(choices(balancer, 4), "BBBB");
}

TEST(Health, AnEndThatSaysNothingChangesNothing) {
  Balancer balancer(Algorithm::round_robin, weighted({1, 1}), kSeed);
  for (int i = 0; i < 3; ++i) {
    balancer.started(0);
    balancer.finished(0, Outcome::unknown, kNow);
  }
  EXPECT_EQ(balancer.active(0), 0U);
  EXPECT_FALSE(balancer.is_set_aside(0, kNow));
  fail(balancer, 0, 2);
  balancer.started(0);
  balancer.finished(0, Outcome::unknown, kNow);
  fail(balancer, 0, 1);
  EXPECT_TRUE(balancer.is_set_aside(0, kNow));
  balancer.started(0);
  balancer.finished(0, Outcome::unknown, kNow);
  EXPECT_TRUE(balancer.is_set_aside(0, kNow));
}

TEST(Health, TriesAgainAfterTheTimeAndThenOneFailureIsEnough) {
  Balancer balancer(Algorithm::round_robin, weighted({1, 1}), kSeed,
                    {.failures = 3, .set_aside = seconds(10)});
  fail(balancer, 0, 3);
  const TimePoint just_before = kNow + seconds(10) - milliseconds(1);
  const TimePoint later = kNow + seconds(10);
  EXPECT_EQ(balancer.pick(just_before), 1U);
  EXPECT_TRUE(balancer.is_set_aside(0, just_before));
  EXPECT_FALSE(balancer.is_set_aside(0, later));
  EXPECT_EQ(balancer.pick(later), 0U);

  fail(balancer, 0, 1, later);
  EXPECT_TRUE(balancer.is_set_aside(0, later + seconds(9)));
  EXPECT_FALSE(balancer.is_set_aside(0, later + seconds(10)));

  balancer.started(0);
  balancer.finished(0, Outcome::answered, later + seconds(10));
  fail(balancer, 0, 2, later + seconds(11));
  EXPECT_FALSE(balancer.is_set_aside(0, later + seconds(11))) << "the success counts as recovery";
}

TEST(Health, IsForgottenWhenNobodyElseIsLeft) {
  for (const auto algorithm :
       {Algorithm::round_robin, Algorithm::random, Algorithm::least_requests}) {
    Balancer balancer(algorithm, weighted({1, 1, 1}), kSeed);
    for (std::size_t i = 0; i < 3; ++i) fail(balancer, i, 3);
    const std::string letters = choices(balancer, 60);
    for (const char letter : {'A', 'B', 'C'}) EXPECT_TRUE(letters.contains(letter));
  }
}

TEST(Health, PrefersADestinationThatIsAsideToNone) {
  Balancer balancer(Algorithm::round_robin, weighted({1, 1}), kSeed);
  fail(balancer, 0, 3);
  const std::array<std::size_t, 1> healthy_one = {1};
  EXPECT_EQ(balancer.pick(kNow, healthy_one), 0U);
}

TEST(Balancer, GivesOptionsBack) {
  const Balancer balancer(Algorithm::round_robin, weighted({3, 4}), kSeed);
  EXPECT_EQ(balancer.size(), 2U);
  EXPECT_EQ(balancer.destination(1).weight, 4U);
  EXPECT_EQ(balancer.destination(1).address, "origin.example");
}

}  // namespace
}  // namespace titanium::cluster
