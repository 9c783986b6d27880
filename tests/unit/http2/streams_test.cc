// SPDX-License-Identifier: MIT
#include "http2/streams.h"

#include <random>
#include <set>

#include "http2/budget.h"
#include "http2/stream_state.h"
#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;

// The arrows of RFC 9113 §5.1 that matter most, and some that must not be there.
static_assert(next_state(State::idle, Event::recv_headers) == State::open);
static_assert(next_state(State::open, Event::recv_end_stream) == State::half_closed_remote);
static_assert(next_state(State::half_closed_remote, Event::send_end_stream) == State::closed);
static_assert(next_state(State::half_closed_remote, Event::recv_headers) == std::nullopt);
static_assert(next_state(State::half_closed_local, Event::send_headers) == std::nullopt);
static_assert(next_state(State::idle, Event::recv_reset) == std::nullopt);
static_assert(next_state(State::closed, Event::recv_headers) == std::nullopt);

TEST(StreamState, EndsOnlyWhenBothSidesHaveEndedOrOneResets) {
  for (const Transition& t : kTransitions) {
    if (t.to != State::closed) continue;
    const bool is_reset = t.on == Event::send_reset || t.on == Event::recv_reset;
    EXPECT_TRUE(is_reset || t.from == State::half_closed_local ||
                t.from == State::half_closed_remote);
  }
}

// Streams get their ids from a connection only; so the table is tested through one.
TEST(StreamTable, FindsWhatIsOpenAndNothingElse) {
  Server server({.concurrent_streams = 10'000, .incomplete_resets = 1'000'000});
  std::mt19937 random(1);
  std::set<std::uint32_t> open;
  std::uint32_t next = 1;
  for (int i = 0; i < 20'000; ++i) {
    if (open.empty() || random() % 100 < 52) {
      const std::uint32_t id = next;
      next += 2 * (1 + static_cast<std::uint32_t>(random() % 3));
      ASSERT_TRUE(server.hear(post(id)));
      open.insert(id);
    } else {
      auto it = open.lower_bound(static_cast<std::uint32_t>(random() % next));
      if (it == open.end()) it = open.begin();
      ASSERT_TRUE(server.hear(data(*it, "x")));
      ASSERT_EQ(server.received[*it], "x");
      ASSERT_TRUE(server.hear(rst_stream(*it, ErrorCode::cancel)));
      open.erase(it);
    }
    ASSERT_EQ(server.connection.stream_count(), open.size());
    if (server.streams.size() > 4000) break;
  }
  std::size_t visited = 0;
  server.connection.for_each_stream([&](Stream& stream) {
    ++visited;
    EXPECT_TRUE(open.contains(stream.id()));
  });
  EXPECT_EQ(visited, open.size());
}

TEST(ClosedStreams, RemembersWhoResetAndWhatWasLeftOut) {
  ClosedStreams closed;
  using enum ClosedStreams::Fate;
  EXPECT_EQ(closed.fate_of(1), completed);
  closed.remember_reset(1, true);
  closed.remember_reset(3, false);
  closed.remember_gap(5, 9);
  EXPECT_EQ(closed.fate_of(1), reset_by_us);
  EXPECT_EQ(closed.fate_of(3), reset_by_peer);
  EXPECT_EQ(closed.fate_of(5), never_used);
  EXPECT_EQ(closed.fate_of(7), never_used);
  EXPECT_EQ(closed.fate_of(9), completed);
  for (std::uint32_t id = 11; id < 11 + 2 * 127; id += 2) closed.remember_reset(id, true);
  EXPECT_EQ(closed.fate_of(1), completed);  // Too long ago.
  EXPECT_EQ(closed.fate_of(3), reset_by_peer);
}

TEST(Budget, AllowsItsEventsAtOnceAndThenAsTimePasses) {
  using std::chrono::seconds;
  Budget budget(60);
  Budget::TimePoint now{seconds(1000)};
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
  now += seconds(1);
  EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
  now += seconds(1000);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(budget.spend(now));
  EXPECT_FALSE(budget.spend(now));
}

TEST(Budget, OfNothingAllowsNothing) {
  Budget budget(0);
  EXPECT_FALSE(budget.spend(Budget::TimePoint{std::chrono::hours(1)}));
}

TEST(Budget, CountsExactlyForEverySize) {
  for (const std::uint32_t events : {1U, 7U, 32U, 100U, 1024U, 4096U}) {
    Budget budget(events);
    const Budget::TimePoint now{std::chrono::hours(1)};
    for (std::uint32_t i = 0; i < events; ++i) ASSERT_TRUE(budget.spend(now));
    EXPECT_FALSE(budget.spend(now)) << events;
  }
}

}  // namespace
}  // namespace titanium::http2
