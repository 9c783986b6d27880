// SPDX-License-Identifier: MIT
#include "http2/scheduler.h"

#include <string>

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;
using http::BodyKind;

TEST(ParsePriority, KnowsTheTwoParameters) {
  struct Row {
    std::string_view text;
    Priority priority;
  };
  const Row rows[] = {
      {"", {3, false}},         {"u=0", {0, false}},      {"u=7, i", {7, true}},
      {"i", {3, true}},         {"i=?1, u=1", {1, true}}, {"i, i=?0", {3, false}},
      {"u=1, u=2", {2, false}}, {"u=1;x=2", {1, false}},  {"u=8", {3, false}},
      {"u=-1", {3, false}},     {"u=12", {3, false}},     {"u=a", {3, false}},
      {"u", {3, false}},        {"U=1", {3, false}},      {"x=\"u=1, i\", u=5", {5, false}},
      {"\x01\xff", {3, false}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(parse_priority(row.text), row.priority) << row.text;
  }
}

// The ids of DATA frames in the order in which they leave, with budgets so small that each frame is
// produced alone.
std::string order(Server& server, int frames) {
  std::string ids;
  for (int i = 0; i < frames; ++i) {
    for (const std::string& line : server.say(1)) {
      if (line.starts_with("DATA ")) ids += line[5];
    }
  }
  return ids;
}

void open(Server& server, std::uint32_t id, std::string_view priority) {
  Lines lines = get_lines();
  if (!priority.empty()) lines.push_back({"priority", std::string(priority)});
  ASSERT_TRUE(server.hear(headers(id, lines, kWhole | kEnd)));
  server.respond(id, 200, {.kind = BodyKind::streamed});
}

Server& with_large_windows(Server& server) {
  EXPECT_TRUE(server.hear(settings({{4, 1'000'000}}) + window_update(0, 10'000'000)));
  return server;
}

TEST(Scheduler, StreamsTakeTurns) {
  Server server;
  with_large_windows(server);
  for (const std::uint32_t id : {1U, 3U, 5U}) {
    open(server, id, "");
    server.send(id, std::string(40'000, 'x'));
  }
  (void)server.say(0);
  EXPECT_EQ(order(server, 9), "135135135");
  EXPECT_EQ(server.reader.largest_data(), 16'384U);
}

TEST(Scheduler, ALargerMaxFrameSizeDoesNotMakeTurnsLonger) {
  Server server;
  with_large_windows(server);
  ASSERT_TRUE(server.hear(settings({{5, 1'000'000}})));
  open(server, 1, "");
  server.send(1, std::string(100'000, 'x'));
  (void)server.say();
  EXPECT_EQ(server.reader.largest_data(), 16'384U);
}

TEST(Scheduler, TheMoreUrgentGoesFirst) {
  Server server;
  with_large_windows(server);
  open(server, 1, "u=7");
  open(server, 3, "u=0");
  open(server, 5, "");
  for (const std::uint32_t id : {1U, 3U, 5U}) server.send(id, std::string(20'000, 'x'));
  (void)server.say(0);
  EXPECT_EQ(order(server, 6), "335511");
}

TEST(Scheduler, OnlyIncrementalStreamsShare) {
  Server server;
  with_large_windows(server);
  open(server, 1, "u=2");
  open(server, 3, "u=2");
  open(server, 5, "u=3, i");
  open(server, 7, "u=3, i");
  for (const std::uint32_t id : {1U, 3U, 5U, 7U}) server.send(id, std::string(30'000, 'x'));
  (void)server.say(0);
  EXPECT_EQ(order(server, 8), "11335757");
}

TEST(Scheduler, PriorityUpdateMovesAStream) {
  Server server;
  with_large_windows(server);
  open(server, 1, "");
  open(server, 3, "");
  for (const std::uint32_t id : {1U, 3U}) server.send(id, std::string(30'000, 'x'));
  ASSERT_TRUE(server.hear(priority_update(3, "u=1")));
  (void)server.say(0);
  EXPECT_EQ(order(server, 4), "3311");
}

TEST(Scheduler, AStreamWithoutWindowDoesNotHoldUpOthers) {
  Server server;
  ASSERT_TRUE(server.hear(settings({{4, 10}})));
  open(server, 1, "u=0");
  open(server, 3, "");
  server.send(1, std::string(100, 'x'));
  server.send(3, "hello");
  const Log said = server.say();
  EXPECT_THAT(said, Contains("DATA 3 hello"));
  EXPECT_TRUE(server.stream(1).waits_for_window());
  EXPECT_EQ(server.stream(1).produced_bytes(), 10U);
  EXPECT_FALSE(server.has_more);
}

TEST(Scheduler, TheBudgetLeavesTheRestForLater) {
  Server server;
  with_large_windows(server);
  open(server, 1, "");
  server.send(1, std::string(50'000, 'x'));
  EXPECT_EQ(server.say(20'000).size(), 4U);  // ACK, head, and two frames.
  EXPECT_TRUE(server.has_more);
  EXPECT_EQ(server.say().size(), 2U);
  EXPECT_FALSE(server.has_more);
}

TEST(Scheduler, TellsWhenAQueueHasRoomAgain) {
  Server server;
  with_large_windows(server);
  open(server, 1, "");
  server.send(1, std::string(kQueueHigh + 1, 'x'));
  EXPECT_EQ(server.stream(1).queued_bytes(), kQueueHigh + 1);
  (void)server.told();
  while (server.stream(1).queued_bytes() >= kQueueLow) {
    EXPECT_THAT(server.told(), IsEmpty());
    (void)server.say(1);
  }
  EXPECT_THAT(server.told(), ElementsAre("writable 1"));
  (void)server.say();
  EXPECT_THAT(server.told(), IsEmpty());
}

}  // namespace
}  // namespace titanium::http2
