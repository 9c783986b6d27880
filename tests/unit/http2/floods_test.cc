// SPDX-License-Identifier: MIT
//
// What a peer can make us do, and where it ends: one test for each budget of Options.
#include <string>

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;
using http::BodyKind;
using std::chrono::seconds;

constexpr auto kCalm = ErrorCode::enhance_your_calm;

// Sends `frames(i)` until the connection ends; the number of those that were taken.
template <typename Frames>
std::size_t flood(Playbook& book, Frames frames, std::size_t most = 20'000) {
  for (std::size_t i = 0; i < most; ++i) {
    if (!book.hear(frames(static_cast<std::uint32_t>(i)))) return i;
    (void)book.say();
  }
  return most;
}

void expect_calm(Playbook& book) {
  EXPECT_EQ(static_cast<ErrorCode>(book.failure.native), kCalm);
  EXPECT_EQ(book.failure.code, Code::limit);
  EXPECT_THAT(book.say().back(), testing::EndsWith("ENHANCE_YOUR_CALM"));
}

TEST(Floods, RapidReset) {
  Server server({.incomplete_resets = 10});
  EXPECT_EQ(flood(server,
                  [](std::uint32_t i) {
                    return get(2 * i + 1) + rst_stream(2 * i + 1, ErrorCode::cancel);
                  }),
            10U);
  expect_calm(server);
  EXPECT_EQ(server.connection.counters().resets_received, 11U);
  EXPECT_EQ(server.connection.counters().incomplete_resets, 11U);
}

TEST(Floods, RapidResetOfAnswersThatWereNotProducedYet) {
  Server server({.incomplete_resets = 10});
  server.then = [&](std::string_view event, std::uint32_t id) {
    if (event == "request") server.respond(id, 204);
  };
  EXPECT_EQ(flood(server,
                  [](std::uint32_t i) {
                    return get(2 * i + 1) + rst_stream(2 * i + 1, ErrorCode::cancel);
                  }),
            10U);
}

TEST(Floods, ResetsOfCompleteResponsesAreFree) {
  Server server({.incomplete_resets = 1});
  for (std::uint32_t id = 1; id < 100; id += 2) {
    ASSERT_TRUE(server.hear(post(id)));
    server.respond(id, 204);
    (void)server.say();
    ASSERT_TRUE(server.hear(rst_stream(id, ErrorCode::no_error)));
  }
}

TEST(Floods, ResetsThatWeAreTrickedInto) {
  const std::function<std::string(std::uint32_t)> tricks[] = {
      [](std::uint32_t id) { return post(id) + window_update(id, 0); },
      [](std::uint32_t id) {
        return post(id) + window_update(id, 0x7fff'ffff) + window_update(id, 0x7fff'ffff);
      },
      [](std::uint32_t id) { return get(id) + data(id, "x"); },
      [](std::uint32_t id) { return get(id) + get(id); },
      [](std::uint32_t id) { return post(id) + priority(id, id); },
      [](std::uint32_t id) { return headers(id, {}); },
      [](std::uint32_t id) { return post(id) + headers(id, {{"x", "y"}}); },
  };
  for (const auto& trick : tricks) {
    Server server({.incomplete_resets = 10});
    EXPECT_EQ(flood(server, [&](std::uint32_t i) { return trick(2 * i + 1); }), 10U);
    expect_calm(server);
    EXPECT_EQ(server.connection.counters().resets_sent_for_errors, 11U);
  }
}

TEST(Floods, FramesOnClosedStreams) {
  Server server({.incomplete_resets = 10});
  ASSERT_TRUE(server.hear(get(1)));
  server.respond(1, 204);
  (void)server.say();
  ASSERT_TRUE(server.hear(data(1, "x")));  // Reset now, and then ignored.
  EXPECT_EQ(flood(server, [](std::uint32_t) { return data(1, "x"); }, 100), 100U);
  EXPECT_EQ(flood(server,
                  [](std::uint32_t i) {
                    return get(2 * i + 3) + rst_stream(2 * i + 3, ErrorCode::cancel);
                  }),
            9U);
}

TEST(Floods, StreamsBeyondTheLimit) {
  Server server({.concurrent_streams = 1, .incomplete_resets = 10});
  ASSERT_TRUE(server.hear(get(1)));
  EXPECT_EQ(flood(server, [](std::uint32_t i) { return get(2 * i + 3); }), 10U);
  expect_calm(server);
  EXPECT_EQ(server.connection.counters().refused_streams, 11U);
}

TEST(Floods, BudgetsAreRefilledOverTime) {
  Server server({.incomplete_resets = 10});
  std::uint32_t id = 1;
  for (int minute = 0; minute < 5; ++minute) {
    for (int i = 0; i < 10; ++i, id += 2) {
      ASSERT_TRUE(server.hear(get(id) + rst_stream(id, ErrorCode::cancel)));
    }
    server.now += seconds(60);
  }
  for (int i = 0; i < 10; ++i, id += 2) {
    ASSERT_TRUE(server.hear(get(id) + rst_stream(id, ErrorCode::cancel)));
  }
  server.now += seconds(6);  // One of ten.
  ASSERT_TRUE(server.hear(get(id) + rst_stream(id, ErrorCode::cancel)));
  id += 2;
  EXPECT_FALSE(server.hear(get(id) + rst_stream(id, ErrorCode::cancel)));
}

TEST(Floods, AnOriginMayResetWhatItLikes) {
  Client client({.incomplete_resets = 1});
  for (std::uint32_t id = 1; id < 100; id += 2) {
    client.request();
    (void)client.say();
    ASSERT_TRUE(client.hear(rst_stream(id, ErrorCode::refused_stream)));
  }
}

TEST(Floods, FramesOfAnOpenBlockByNumber) {
  Server server({.header_block_frames = 10});
  ASSERT_TRUE(server.hear(frame(FrameType::headers, 0, 1, "\x40")));
  EXPECT_EQ(flood(server, [](std::uint32_t) { return continuation(1, "x"); }), 9U);
  expect_calm(server);
  EXPECT_EQ(server.connection.counters().continuations, 10U);
}

TEST(Floods, FramesOfAnOpenBlockBySize) {
  Server server({.header_block_bytes = 40'000});
  ASSERT_TRUE(server.hear(frame(FrameType::headers, 0, 1, std::string(10'000, '\x40'))));
  EXPECT_EQ(flood(server, [](std::uint32_t) { return continuation(1, std::string(10'000, 'x')); }),
            3U);
  expect_calm(server);
  EXPECT_EQ(server.pool.live(), 0U);
}

TEST(Floods, BlocksOfOneFrameBySize) {
  Server server({.header_block_bytes = 10});
  EXPECT_FALSE(server.hear(get(1)));
  expect_calm(server);
}

TEST(Floods, FramesOfAnOpenBlockByTime) {
  for (const std::string& open :
       {frame(FrameType::headers, 0, 1, "\x40"), get(1).substr(0, 12), get(1).substr(0, 9)}) {
    Server server;
    EXPECT_EQ(server.connection.next_deadline(), std::nullopt);
    ASSERT_TRUE(server.hear(open));
    const auto deadline = server.connection.next_deadline();
    ASSERT_TRUE(deadline.has_value());
    EXPECT_EQ(*deadline, server.now + seconds(10));
    server.now += seconds(9);
    EXPECT_TRUE(server.connection.check_deadlines(server.now));
    expect_failed(server, server.connection.check_deadlines(*deadline), kCalm);
    EXPECT_EQ(server.connection.next_deadline(), std::nullopt);
  }
}

TEST(Floods, ABlockThatIsCompleteWaitsForNothing) {
  Server server;
  ASSERT_TRUE(server.hear(get(1), 1));
  EXPECT_EQ(server.connection.next_deadline(), std::nullopt);
}

TEST(Floods, SettingsWithoutAck) {
  Server server({}, false);
  ASSERT_TRUE(server.hear(std::string(kPreface) + settings({})));
  const auto deadline = server.connection.next_deadline();
  ASSERT_TRUE(deadline.has_value());
  EXPECT_TRUE(server.connection.check_deadlines(*deadline - seconds(1)));
  const Result<> result = server.connection.check_deadlines(*deadline);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::timed_out);
  EXPECT_THAT(server.say().back(), testing::EndsWith("SETTINGS_TIMEOUT"));
}

struct Flood {
  std::string_view name;
  Options options;
  std::string frame;
  std::size_t allowed;
};

TEST(Floods, FramesThatChangeNothing) {
  const Flood cases[] = {
      {"SETTINGS", {.settings_frames = 10}, settings({{4, 5}}), 9},  // One was in the greeting.
      {"PING", {.pings = 10}, ping("12345678"), 10},
      {"PING ACK", {.pings = 10}, ping("12345678", flag::kAck), 10},
      {"SETTINGS ACK", {.unknown_frames = 10}, settings_ack(), 10},
      {"empty DATA", {.empty_frames = 10}, data(1, ""), 12},
      {"DATA of padding alone", {.empty_frames = 10}, padded_data(1, "", 3), 12},
      {"PRIORITY", {.priority_frames = 10}, priority(1, 0), 10},
      {"PRIORITY_UPDATE", {.priority_frames = 10}, priority_update(1, "u=2"), 10},
      {"WINDOW_UPDATE", {.window_updates = 10}, window_update(0, 1), 12},  // Streams explain two.
      {"WINDOW_UPDATE of a stream", {.window_updates = 10}, window_update(1, 1), 12},
      {"WINDOW_UPDATE of a closed stream", {.window_updates = 10}, window_update(3, 1), 12},
      {"unknown type", {.unknown_frames = 10}, frame(std::uint8_t{99}, 0, 0, "x"), 10},
      {"RST_STREAM of a closed stream",
       {.unknown_frames = 10},
       rst_stream(3, ErrorCode::cancel),
       10},
      {"GOAWAY", {.unknown_frames = 10}, goaway(0, ErrorCode::no_error), 11},
  };
  for (const Flood& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    Server server(c.options);
    ASSERT_TRUE(server.hear(post(1) + post(3)));
    server.respond(3, 204);
    (void)server.say();
    server.connection.reset(server.stream(3), ErrorCode::no_error);
    EXPECT_EQ(flood(server, [&](std::uint32_t) { return c.frame; }), c.allowed);
    expect_calm(server);
  }
}

TEST(Floods, EmptyFramesOfABlock) {
  Server server({.empty_frames = 10});
  ASSERT_TRUE(server.hear(frame(FrameType::headers, 0, 1, "")));
  EXPECT_EQ(flood(server, [](std::uint32_t) { return continuation(1, ""); }), 9U);
  expect_calm(server);
  EXPECT_EQ(server.connection.counters().empty_frames, 11U);
}

TEST(Floods, CountersTellThemApart) {
  Server server;
  ASSERT_TRUE(server.hear(post(1) + ping("12345678") + data(1, "") + priority(1, 0) +
                          window_update(0, 1) + frame(std::uint8_t{99}, 0, 0, "") + settings({})));
  const Counters& counters = server.connection.counters();
  EXPECT_EQ(counters.streams, 1U);
  EXPECT_EQ(counters.pings, 1U);
  EXPECT_EQ(counters.empty_frames, 1U);
  EXPECT_EQ(counters.priority_frames, 1U);
  EXPECT_EQ(counters.window_updates, 1U);
  EXPECT_EQ(counters.unknown_frames, 1U);
  EXPECT_EQ(counters.settings, 2U);
}

TEST(Floods, WindowUpdatesThatAnswerOurDataAreFree) {
  Server server({.window_updates = 5});
  ASSERT_TRUE(server.hear(get(1)));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  for (int i = 0; i < 100; ++i) {
    server.send(1, std::string(2000, 'x'));
    (void)server.say();
    ASSERT_TRUE(server.hear(window_update(1, 2000) + window_update(0, 2000)));
  }
}

// Some open both windows again for each KiB they have read (Go: for each 4 KiB).
TEST(Floods, WindowUpdatesMayComeInSmallSteps) {
  Server server({.window_updates = 5});
  ASSERT_TRUE(server.hear(get(1)));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  for (int i = 0; i < 100; ++i) {
    server.send(1, std::string(16'384, 'x'));
    (void)server.say();
    for (int step = 0; step < 16; ++step) {
      ASSERT_TRUE(server.hear(window_update(1, 1024) + window_update(0, 1024))) << i;
    }
  }
}

// gRPC sends one with the first data of each round trip, and sizes its windows by the answer.
TEST(Floods, PingsThatMeasureOurDataAreFree) {
  Server server({.pings = 5});
  for (std::uint32_t id = 1; id < 200; id += 2) {
    ASSERT_TRUE(server.hear(get(id)));
    server.respond(id, 200, {.kind = BodyKind::streamed});
    server.send(id, "hello");
    (void)server.say();
    ASSERT_TRUE(server.hear(ping("12345678"))) << id;
  }
  EXPECT_EQ(flood(server, [](std::uint32_t) { return ping("12345678"); }), 5U);
  expect_calm(server);
}

TEST(Floods, AnEmptyFrameAtTheBeginningOfABodyIsFree) {
  Server server({.empty_frames = 5});
  for (std::uint32_t id = 1; id < 200; id += 2) {
    ASSERT_TRUE(server.hear(post(id) + data(id, "") + data(id, "x", flag::kEndStream))) << id;
    server.respond(id, 204);
    (void)server.say();
  }
}

TEST(Floods, WhatThereIsReasonForIsNotSavedUpWithoutEnd) {
  Server server({.pings = 5});
  ASSERT_TRUE(server.hear(get(1) + window_update(0, 1 << 30) + window_update(1, 1 << 30)));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  for (int i = 0; i < 3'000; ++i) {
    server.send(1, "hello");
    (void)server.say();
  }
  EXPECT_EQ(flood(server, [](std::uint32_t) { return ping("12345678"); }), 1'005U);
}

// CVE-2019-9511: the answer is asked for in tiny pieces.
TEST(Floods, WindowsThatOpenAByteAtATime) {
  Server server({.window_updates = 10});
  ASSERT_TRUE(server.hear(settings({{4, 0}}) + get(1)));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  server.send(1, std::string(10'000, 'x'));
  EXPECT_LE(flood(server, [](std::uint32_t) { return window_update(1, 1); }), 12U);
  expect_calm(server);
}

TEST(Floods, APeerThatDoesNotReadItsAnswers) {
  Server server({.pings = 1'000'000});
  std::size_t taken = 0;
  while (taken < 100'000 && server.hear(ping("12345678"))) ++taken;
  EXPECT_NEAR(static_cast<double>(taken), 64 * 1024 / 17.0, 2.0);
  expect_calm(server);
}

TEST(Floods, HeaderBombsAreAnsweredWith431) {
  Server server({.fields = {.list_bytes = 1000, .fields = 100}});
  Lines lines = get_lines();
  for (int i = 0; i < 30; ++i) lines.push_back({"x", "0123456789"});
  ASSERT_TRUE(server.hear(headers(1, lines)));
  EXPECT_THAT(server.told(), ElementsAre("refused 1 431"));
  EXPECT_EQ(server.stream(1).request.path, "/");
  ASSERT_TRUE(server.hear(data(1, "dropped")));
  server.respond(1, 431, {.kind = BodyKind::sized, .bytes = 0});
  EXPECT_THAT(server.say(),
              ElementsAre("HEADERS 1 END :status=431 content-length=0", "RST_STREAM 1 NO_ERROR"));
  EXPECT_THAT(server.told(), ElementsAre("closed 1"));
}

TEST(Floods, TooManyFieldsAreAnsweredWith431) {
  Server server({.fields = {.list_bytes = 64 * 1024, .fields = 3}});
  Lines lines = get_lines();
  for (int i = 0; i < 4; ++i) lines.push_back({"x", "y"});
  ASSERT_TRUE(server.hear(headers(1, lines, kWhole | kEnd)));
  EXPECT_THAT(server.told(), ElementsAre("refused 1 431"));
  server.respond(1, 431, {.kind = BodyKind::sized, .bytes = 0});
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 END :status=431 content-length=0"));
  EXPECT_THAT(server.told(), ElementsAre("closed 1"));
}

TEST(Floods, TrailersThatAreTooLargeEndTheStream) {
  Server server({.trailers = {.list_bytes = 100, .fields = 100}});
  ASSERT_TRUE(server.hear(post(1)));
  expect_reset(server, server.hear(headers(1, {{"x", std::string(100, 'x')}}, kWhole | kEnd)), 1,
               ErrorCode::cancel);
  EXPECT_EQ(server.last_reset.status, 431);
}

// A body that comes a byte at a time, each in a read of its own.
TEST(Floods, ABodyInTinyPiecesDoesNotHoldAChunkForEach) {
  Server server;
  server.keeps_data = true;
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(server.hear(data(1, "x")));
  EXPECT_EQ(server.kept.size(), 5000U);
  EXPECT_LE(server.pool.live(), 3U);
  server.kept.clear();
  server.consume(1);
  EXPECT_EQ(server.pool.live(), 0U);
}

}  // namespace
}  // namespace titanium::http2
