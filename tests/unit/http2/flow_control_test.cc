// SPDX-License-Identifier: MIT
#include "http2/flow_control.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;

TEST(SendWindow, CanBeNegativeAndNeverOverflows) {
  SendWindow window(10);
  window.take(4);
  EXPECT_EQ(window.available(), 6U);
  EXPECT_TRUE(window.add(-8));
  EXPECT_EQ(window.available(), 0U);
  EXPECT_TRUE(window.add(3));
  EXPECT_EQ(window.available(), 1U);
  EXPECT_FALSE(window.add(kLargestWindow));
  EXPECT_TRUE(window.add(kLargestWindow - 1));
  EXPECT_EQ(window.available(), std::size_t{kLargestWindow});
}

TEST(ReceiveWindow, IsGivenBackByTheHalf) {
  ReceiveWindow window(100, 100);
  EXPECT_TRUE(window.admits(100));
  EXPECT_FALSE(window.admits(101));
  window.receive(60);
  EXPECT_FALSE(window.admits(41));
  EXPECT_EQ(window.due(), 0U);
  window.consume(49);
  EXPECT_EQ(window.due(), 0U);
  window.consume(1);
  EXPECT_EQ(window.due(), 50U);
  window.give_back(50);
  EXPECT_TRUE(window.admits(90));
  EXPECT_EQ(window.due(), 0U);
  window.consume(1000);  // No more than what waits.
  EXPECT_EQ(window.waiting(), 0U);
}

TEST(ReceiveWindow, PaddingIsConsumedAtOnce) {
  ReceiveWindow window(100, 100);
  window.receive_unwanted(50);
  EXPECT_EQ(window.due(), 50U);
}

TEST(ReceiveWindow, OthersGoOnBesideBytesThatWait) {
  ReceiveWindow window(100, 100);
  window.receive(80);  // Of somebody who does not read.
  EXPECT_EQ(window.due_beside_waiting(), 0U);
  window.receive_unwanted(10);
  EXPECT_EQ(window.due(), 0U);
  EXPECT_EQ(window.due_beside_waiting(), 10U);
}

std::size_t window_of(const Log& said, std::string_view id) {
  std::size_t sum = 0;
  for (const std::string& line : said) {
    const std::string start = "WINDOW_UPDATE " + std::string(id) + " ";
    if (line.starts_with(start)) sum += std::stoul(line.substr(start.size()));
  }
  return sum;
}

TEST(FlowControl, AStreamMayNotExceedItsWindow) {
  Server server({.stream_window_bytes = 70'000});
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(server.hear(data(1, std::string(10'000, 'x'))));
  expect_reset(server, server.hear(data(1, "x")), 1, ErrorCode::flow_control_error);
}

TEST(FlowControl, PaddingCounts) {
  Server server({.stream_window_bytes = 70'000});
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(server.hear(data(1, std::string(11'500, 'x'))));
  // 1000 are left: 1 + 744 + 255.
  ASSERT_TRUE(server.hear(padded_data(1, std::string(744, 'x'), 255)));
  expect_reset(server, server.hear(padded_data(1, "", 0)), 1, ErrorCode::flow_control_error);
}

TEST(FlowControl, TheConnectionMayNotExceedItsWindow) {
  Server server({.stream_window_bytes = 1'000'000, .connection_window_bytes = 70'000});
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(server.hear(data(1, std::string(10'000, 'x'))));
  expect_failed(server, server.hear(data(1, "x")), ErrorCode::flow_control_error);
}

TEST(FlowControl, WhatIsConsumedIsGivenBackInBatches) {
  Server server({.stream_window_bytes = 100'000});
  ASSERT_TRUE(server.hear(post(1)));
  std::size_t sent = 0;
  std::size_t given = 0;
  std::size_t updates = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(server.hear(data(1, std::string(5'000, 'x'))));
    sent += 5'000;
    server.consume(1);
    const Log said = server.say();
    updates += said.size();
    given += window_of(said, "1");
  }
  EXPECT_GE(given + 100'000, sent);
  EXPECT_LE(given, sent);
  EXPECT_LE(updates, 55U);
}

TEST(FlowControl, DataOfDeadStreamsIsGivenBackToTheConnection) {
  Server server({.connection_window_bytes = 100'000});
  ASSERT_TRUE(server.hear(post(1)));
  server.connection.reset(server.stream(1), ErrorCode::cancel);
  std::size_t given = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(server.hear(data(1, std::string(10'000, 'x'))));
    given += window_of(server.say(), "0");
  }
  EXPECT_GE(given + 100'000, 1'000'000U);
}

TEST(FlowControl, WhatAResetStreamLeftUnconsumedIsGivenBack) {
  Server server({.connection_window_bytes = 100'000});
  for (std::uint32_t id = 1; id < 60; id += 2) {
    ASSERT_TRUE(server.hear(post(id) + data(id, std::string(16'000, 'x'))));
    server.connection.reset(server.stream(id), ErrorCode::cancel);
    (void)server.say();
  }
}

TEST(FlowControl, StreamsThatNobodyReadsDoNotStopTheOthers) {
  Server server({.stream_window_bytes = 70'000, .connection_window_bytes = 100'000});
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(server.hear(data(1, std::string(10'000, 'x'))));
  ASSERT_TRUE(server.hear(post(3)));
  std::size_t open = 30'000;
  for (int i = 0; i < 100; ++i) {
    const std::size_t bytes = std::min<std::size_t>(open, 16'000);
    ASSERT_GT(bytes, 0U);
    ASSERT_TRUE(server.hear(data(3, std::string(bytes, 'x'))));
    open -= bytes;
    server.consume(3);
    open += window_of(server.say(), "0");
  }
}

TEST(FlowControl, ASmallerWindowHoldsOnceItIsConfirmed) {
  Server server({.stream_window_bytes = 1000}, false);
  ASSERT_TRUE(server.hear(std::string(kPreface) + settings({}) + post(1)));
  ASSERT_TRUE(server.hear(data(1, std::string(900, 'x'))));
  ASSERT_TRUE(server.hear(data(1, std::string(900, 'x'))));  // By the window of the protocol.
  ASSERT_TRUE(server.hear(settings_ack()));
  expect_reset(server, server.hear(data(1, "x")), 1, ErrorCode::flow_control_error);
  ASSERT_TRUE(server.hear(post(3) + data(3, std::string(1000, 'x'))));
  expect_reset(server, server.hear(data(3, "x")), 3, ErrorCode::flow_control_error);
}

TEST(FlowControl, WhatWasConsumedBeforeTheSmallerWindowHeldIsGivenBack) {
  Server server({.stream_window_bytes = 1000}, false);
  ASSERT_TRUE(server.hear(std::string(kPreface) + settings({}) + post(1)));
  (void)server.say();
  ASSERT_TRUE(server.hear(data(1, std::string(3000, 'x'))));
  server.consume(1);
  EXPECT_THAT(server.say(), IsEmpty());
  ASSERT_TRUE(server.hear(settings_ack()));  // The peer's window is now at -2000.
  EXPECT_THAT(server.say(), ElementsAre("WINDOW_UPDATE 1 3000"));
}

TEST(FlowControl, AStreamThatHasEndedGetsNoMoreWindow) {
  Server server({.stream_window_bytes = 70'000});
  ASSERT_TRUE(server.hear(post(1)));
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(server.hear(data(1, std::string(10'000, 'x'))));
  ASSERT_TRUE(server.hear(data(1, "", kEnd)));
  server.consume(1);
  EXPECT_EQ(window_of(server.say(), "1"), 0U);
}

TEST(FlowControl, NorDoesOneThatEndsWhenItWasJustToGetMore) {
  Server server({.stream_window_bytes = 32'000});
  ASSERT_TRUE(server.hear(post(1) + data(1, std::string(16'000, 'x'))));
  server.consume(1);  // A WINDOW_UPDATE is due.
  ASSERT_TRUE(server.hear(data(1, "", kEnd)));
  EXPECT_EQ(window_of(server.say(), "1"), 0U);
}

// ---- Windows that follow the path

// A sender of one body over a path with a round trip of 100 ms, a millisecond at a time.
class FarSender {
 public:
  static constexpr std::chrono::milliseconds kRoundTrip{100};

  explicit FarSender(Options options) : server(options, false) {
    (void)server.hear(std::string(kPreface) + settings({}));
    connection_window_ = kDefaultWindow + window_of(server.say(), "0");
    server.now += kRoundTrip;
    (void)server.hear(settings_ack());
    begin(1);
    server.then = [this](std::string_view what, std::uint32_t id) {
      if (what == "data" && takes_at_once) server.consume(id);
    };
  }

  // From now on all bytes are those of a new stream.
  void begin(std::uint32_t stream) {
    stream_ = stream;
    (void)server.hear(post(stream));
    window_ = server.options.stream_window_bytes;
    for (Update& update : updates_) update.stream = 0;
  }

  // How many bytes arrive in `time` over a path that carries `rate` bytes in a millisecond.
  std::size_t send(std::chrono::milliseconds time, std::size_t rate) {
    std::size_t sent = 0;
    for (; time.count() > 0; --time) {
      server.now += std::chrono::milliseconds(1);
      while (!updates_.empty() && updates_.front().at <= server.now) {
        window_ += updates_.front().stream;
        connection_window_ += updates_.front().connection;
        updates_.pop_front();
      }
      const std::size_t now = std::min({rate, window_, connection_window_});
      for (std::size_t at = 0; at < now; at += 16'000) {
        EXPECT_TRUE(
            server.hear(data(stream_, std::string(std::min<std::size_t>(now - at, 16'000), 'x'))));
      }
      window_ -= now;
      connection_window_ -= now;
      sent += now;
      if (!takes_at_once) server.consume(stream_);
      const Log said = server.say();
      updates_.push_back({.at = server.now + kRoundTrip,
                          .stream = window_of(said, std::to_string(stream_)),
                          .connection = window_of(said, "0")});
    }
    return sent;
  }

  Server server;
  bool takes_at_once = true;

 private:
  struct Update {
    Playbook::TimePoint at;
    std::size_t stream = 0;
    std::size_t connection = 0;
  };
  std::uint32_t stream_ = 0;
  std::size_t window_ = 0;
  std::size_t connection_window_ = 0;
  std::deque<Update> updates_;
};

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kFast = 100 * kKiB;  // In a millisecond.

TEST(WindowTuning, APathThatCarriesMoreGetsMore) {
  FarSender sender({.stream_window_bytes = 256 * kKiB, .largest_stream_window_bytes = 4096 * kKiB});
  (void)sender.send(std::chrono::seconds(3), kFast);
  const std::size_t bytes = sender.send(std::chrono::seconds(1), kFast);
  // In each round trip, between half of the largest window, by which it is given back, and all.
  EXPECT_GE(bytes, 10 * 2048 * kKiB);
  EXPECT_LE(bytes, 11 * 4096 * kKiB);
}

TEST(WindowTuning, AWindowThatSufficesStays) {
  FarSender sender({.stream_window_bytes = 256 * kKiB});
  // One byte in a millisecond less than half a window in two round trips.
  (void)sender.send(std::chrono::seconds(3), 128 * kKiB / 200 - 1);
  EXPECT_LE(sender.send(std::chrono::milliseconds(100), kFast), 256 * kKiB);
}

TEST(WindowTuning, BytesThatWaitInsideAreNoReason) {
  FarSender sender({.stream_window_bytes = 256 * kKiB});
  sender.takes_at_once = false;
  (void)sender.send(std::chrono::seconds(3), kFast);
  EXPECT_LE(sender.send(std::chrono::seconds(1), kFast), 11 * 256 * kKiB);
}

TEST(WindowTuning, StreamsGrowOnlyAsFarAsTheConnectionLetsThem) {
  FarSender sender({.stream_window_bytes = 256 * kKiB,
                    .largest_stream_window_bytes = 4096 * kKiB,
                    .connection_window_growth_bytes = 300 * kKiB});
  (void)sender.send(std::chrono::seconds(3), kFast);
  const std::size_t bytes = sender.send(std::chrono::seconds(1), kFast);
  EXPECT_GE(bytes, 11 * 256 * kKiB);
  EXPECT_LE(bytes, 11 * 512 * kKiB);
}

TEST(WindowTuning, TheOthersKeepTheirShareOfTheConnection) {
  FarSender sender({.stream_window_bytes = 256 * kKiB,
                    .largest_stream_window_bytes = 4096 * kKiB,
                    .connection_window_bytes = 4096 * kKiB});
  (void)sender.send(std::chrono::seconds(3), kFast);
  // Nobody takes what comes from now on: the stream fills its window, and that of the connection
  // has to have grown as far.
  Server& server = sender.server;
  server.then = nullptr;
  ASSERT_TRUE(server.hear(post(3)));
  (void)sender.send(std::chrono::seconds(1), kFast);
  std::size_t others = 0;
  while (others < 3000 * kKiB && server.hear(data(3, std::string(16'000, 'x')))) {
    others += 16'000;
    server.consume(3);
    (void)server.say();
  }
  EXPECT_GE(others, 3000 * kKiB);
}

// Also if only the peer's direction has ended, and its answer takes its time.
TEST(WindowTuning, AStreamThatEndsGivesItsGrowthBack) {
  for (const bool resets : {true, false}) {
    SCOPED_TRACE(resets ? "reset" : "END_STREAM");
    FarSender sender({.stream_window_bytes = 256 * kKiB,
                      .largest_stream_window_bytes = 2048 * kKiB,
                      .connection_window_bytes = 4096 * kKiB,
                      .connection_window_growth_bytes = 1792 * kKiB});
    (void)sender.send(std::chrono::seconds(3), kFast);
    ASSERT_GE(sender.send(std::chrono::seconds(1), kFast), 10 * 1024 * kKiB);
    Server& server = sender.server;
    if (resets) {
      server.connection.reset(server.stream(1), ErrorCode::cancel);
    } else {
      ASSERT_TRUE(server.hear(data(1, "", kEnd)));
    }
    sender.begin(3);
    (void)sender.send(std::chrono::seconds(3), kFast);
    EXPECT_GE(sender.send(std::chrono::seconds(1), kFast), 10 * 1024 * kKiB);
  }
}

// What an upload left behind when it ended takes from its own share until somebody takes it.
TEST(WindowTuning, WhatWaitsOfAStreamThatHasEndedStopsNobody) {
  FarSender sender({.stream_window_bytes = 256 * kKiB,
                    .largest_stream_window_bytes = 4096 * kKiB,
                    .connection_window_bytes = 1024 * kKiB});
  (void)sender.send(std::chrono::seconds(3), kFast);
  Server& server = sender.server;
  const auto takes = std::exchange(server.then, nullptr);
  (void)sender.send(std::chrono::seconds(1), kFast);
  ASSERT_TRUE(server.hear(data(1, "", kEnd)));
  server.then = takes;
  sender.begin(3);
  (void)sender.send(std::chrono::seconds(1), kFast);
  EXPECT_GE(sender.send(std::chrono::seconds(1), kFast), 10 * 256 * kKiB);
}

}  // namespace
}  // namespace titanium::http2
