// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "http2_support.h"
#include "load/driver.h"
#include "load/http2_connection.h"
#include "origin/grpc.h"
#include "support/counting_allocator.h"

namespace titanium::probe {
namespace {

using http2::FrameType;
using std::chrono::milliseconds;
using testing::all_workloads;
using testing::Certificates;
using testing::data;
using testing::expect_clean;
using testing::Frame;
using testing::FramePeer;
using ::testing::HasSubstr;
using testing::headers;
using testing::load_on;
using testing::NamedWorkload;
using testing::OriginThread;
using testing::Peer;
using testing::run_load;
using testing::ScriptedOrigin;
using testing::settings_frame;
using namespace std::string_literals;

LoadOptions over_h2c(LoadOptions options) {
  options.target.wire = Wire::h2c;
  return options;
}
LoadOptions over_http2_tls(LoadOptions options, const Certificates& certificates) {
  options.target.wire = Wire::http2_tls;
  options.target.ca_file = certificates.path("root.pem");
  return options;
}

std::vector<NamedWorkload> http2_workloads() {
  std::vector<NamedWorkload> all = all_workloads();
  all.push_back({"grpc", {.kind = Workload::Kind::grpc}});
  all.push_back({"grpc 100k", {.kind = Workload::Kind::grpc, .message_bytes = 100'000}});
  return all;
}

// Against the real origin -----------------------------------------------------------------------

TEST(Http2Load, RunsEveryWorkload) {
  const OriginThread origin;
  for (const NamedWorkload& row : http2_workloads()) {
    SCOPED_TRACE(row.name);
    expect_clean(run_load(over_h2c(load_on(origin.port(), row.workload, 12))));
  }
}

TEST(Http2Load, RunsEveryWorkloadOverTls) {
  const Certificates certificates;
  const OriginThread origin(with_tls(certificates));
  for (const NamedWorkload& row : http2_workloads()) {
    SCOPED_TRACE(row.name);
    const LoadOptions options = load_on(origin.https_port(), row.workload, 12);
    expect_clean(run_load(over_http2_tls(options, certificates)));
  }
}

TEST(Http2Load, ASlowConsumerPausesBetweenItsPortions) {
  const OriginThread origin;
  const StepResult result = run_load(over_h2c(
      load_on(origin.port(),
              {.response_bytes = 64 * 1024, .read_chunk_bytes = 16 * 1024, .read_pause_ms = 20})));
  expect_clean(result);
  EXPECT_GE(result.latency.percentile(0), 3 * 20'000);
}

TEST(Http2Load, AllocatesNothingPerRequest) {
  const OriginThread origin;
  for (const NamedWorkload& row : {NamedWorkload{"tiny", {}},
                                   {"body64k", {.response_bytes = 64 * 1024}},
                                   {"post64k", {.request_bytes = 65'536, .response_bytes = 65'536}},
                                   {"grpc", {.kind = Workload::Kind::grpc}}}) {
    SCOPED_TRACE(row.name);
    auto generator = LoadGenerator::create(over_h2c(load_on(origin.port(), row.workload, 8)));
    (*generator)->warm_up(milliseconds(200));
    const std::size_t before = test::allocations();
    const StepResult result = (*generator)->measure(milliseconds(100));
    expect_clean(result);
    // Of both ends together: what a step and a new second need, and what still grows.
    EXPECT_LT(test::allocations() - before, 50 + result.ok / 50);
  }
}

TEST(Http2Load, SaysThatThePeerChoseAnotherProtocol) {
  const Certificates certificates;
  OriginOptions http1_only = with_tls(certificates);
  http1_only.https_http2 = false;
  const OriginThread origin(http1_only);
  const StepResult result =
      run_load(over_http2_tls(load_on(origin.https_port(), {}, 1), certificates), milliseconds(30));
  EXPECT_EQ(result.ok, 0);
  EXPECT_GE(result.errors, 1);
  EXPECT_THAT(result.first_error, HasSubstr("no application protocol"));
}

// Against an origin that does as it is told -------------------------------------------------------

std::string tiny_answer(std::uint32_t id) {
  return headers(id, false, {{":status", "200"}}) + data(id, true, kTinyJson);
}

// Takes the client's preface and answers each request head with `answer`.
using AnswerTo = std::function<std::string(std::uint32_t stream_id, int request)>;
void serve(Peer& peer, std::string_view settings, const AnswerTo& answer) {
  if (peer.read_exactly(http2::kPreface.size()) != http2::kPreface) return;
  peer.send(settings_frame(settings));
  FramePeer frames(peer);
  Frame frame;
  for (int request = 0; frames.read(FrameType::headers, frame); ++request) {
    if (!peer.send(answer(frame.header.stream_id, request))) return;
  }
}

TEST(Http2Load, OpensAsManyConnectionsAsItsStreamsNeed) {
  struct Case {
    std::uint32_t concurrency;
    std::uint32_t streams;
    bool keep_alive;
    int connections;  // 0: one for each request.
  };
  const Case cases[] = {{8, 8, true, 1},     {9, 8, true, 2}, {16, 4, true, 4},
                        {20, 4000, true, 1}, {3, 1, true, 3}, {4, 8, false, 0}};
  for (const Case& row : cases) {
    ScriptedOrigin counting(
        [](Peer& peer, int) { serve(peer, {}, [](auto id, int) { return tiny_answer(id); }); });
    LoadOptions options =
        over_h2c(load_on(counting.port(), {.keep_alive = row.keep_alive}, row.concurrency));
    options.streams_per_connection = row.streams;
    const StepResult result = run_load(options);
    expect_clean(result);
    EXPECT_EQ(counting.connections(),
              row.keep_alive ? row.connections : static_cast<int>(result.ok));
  }
}

TEST(Http2Load, HasNoMoreStreamsThanThePeerAllows) {
  std::atomic<std::size_t> most = 0;
  ScriptedOrigin origin([&](Peer& peer, int) {
    std::vector<std::uint32_t> open;
    // Two at a time are allowed, and answered when both are here.
    serve(peer, testing::setting(http2::SettingId::max_concurrent_streams, 2), [&](auto id, int) {
      open.push_back(id);
      most = std::max<std::size_t>(most, open.size());
      std::string answers;
      if (open.size() >= 2) {
        for (const std::uint32_t one : open) answers += tiny_answer(one);
        open.clear();
      }
      return answers;
    });
  });
  LoadOptions options = over_h2c(load_on(origin.port(), {}, 8));
  Driver driver(options, nullptr, milliseconds(200));
  ASSERT_TRUE(driver.open_slots());
  const StepResult result = driver.measure(milliseconds(100));
  EXPECT_GT(result.ok, 8);
  // Before its SETTINGS were here, all eight could begin.
  EXPECT_LE(most, 8);
}

struct BadAnswer {
  const char* name;
  std::string answer;  // To stream 1.
  const char* error;
  Workload workload{};
};

TEST(Http2Load, CountsEveryWrongAnswerAsAnErrorAndSaysWhich) {
  constexpr Workload kGrpc{.kind = Workload::Kind::grpc, .message_bytes = 4};
  constexpr Workload kWebSocket{.kind = Workload::Kind::websocket, .message_bytes = 4};
  const std::string ok = headers(1, false, {{":status", "200"}});
  const std::string message = make_grpc_message(4);
  const BadAnswer cases[] = {
      {"500", headers(1, true, {{":status", "500"}}), "GET / at {}: status 500"},
      {"no body", headers(1, true, {{":status", "200"}}), "the answer has only 0 bytes"},
      {"a shorter body", ok + data(1, true, kTinyJson.substr(1, 0)), "the answer has only 0 bytes"},
      {"another body", ok + data(1, true, std::string(57, 'x')), "wrong content"},
      {"a longer body", ok + data(1, true, std::string(kTinyJson) + "x"), "wrong content"},
      {"a reset", testing::frame(FrameType::rst_stream, 0, 1, testing::u32_text(2)),
       "before the answer (2)"},
      {"a reset in the middle",
       ok + data(1, false, kTinyJson.substr(0, 9)) +
           testing::frame(FrameType::rst_stream, 0, 1, testing::u32_text(8)),
       "after 9 bytes (8)"},
      {"a refusal", testing::frame(FrameType::rst_stream, 0, 1, testing::u32_text(7)),
       "refused the stream before the answer (7)"},
      {"a bad frame", data(0, false, "x"), "bad frames"},
      {"no HTTP/2", "HTTP/1.1 400 Bad Request\r\n\r\n", "bad frames"},
      {"no grpc-status", ok + data(1, true, message), "no grpc-status", kGrpc},
      {"another grpc-status",
       ok + data(1, false, message) + headers(1, true, {{"grpc-status", "13"}}), "grpc-status 13",
       kGrpc},
      {"trailers only", headers(1, true, {{":status", "200"}, {"grpc-status", "8"}}),
       "grpc-status 8", kGrpc},
      {"another message", ok + data(1, false, message + "x"), "wrong content", kGrpc},
      {"no upgrade", headers(1, true, {{":status", "404"}}), "status 404 to the upgrade",
       kWebSocket},
      {"another echo", ok + data(1, false, "\x82\x04xxxx"), "wrong echo", kWebSocket},
      {"an end instead of an echo", ok + data(1, true, ""), "the WebSocket was closed", kWebSocket},
      {"a close frame", ok + data(1, false, "\x88\0"s), "the WebSocket was closed", kWebSocket},
  };
  for (const BadAnswer& row : cases) {
    SCOPED_TRACE(row.name);
    ScriptedOrigin origin([&](Peer& peer, int) {
      serve(peer, testing::setting(http2::SettingId::enable_connect_protocol, 1),
            [&](auto, int request) { return request == 0 ? row.answer : ""; });
    });
    Driver driver(over_h2c(load_on(origin.port(), row.workload, 1)), nullptr, milliseconds(100));
    ASSERT_TRUE(driver.open_slots());
    const StepResult result = driver.measure(milliseconds(5));
    EXPECT_EQ(result.ok, 0);
    EXPECT_GE(result.errors, 1);
    EXPECT_THAT(result.first_error,
                HasSubstr(fmt::format(fmt::runtime(row.error),
                                      fmt::format("127.0.0.1:{}", origin.port()))));
  }
}

TEST(Http2Load, SaysThatTheServerTakesNoWebSocket) {
  ScriptedOrigin origin([&](Peer& peer, int) { serve(peer, {}, [](auto, int) { return ""; }); });
  const StepResult result = run_load(
      over_h2c(load_on(origin.port(), {.kind = Workload::Kind::websocket}, 2)), milliseconds(20));
  EXPECT_EQ(result.ok, 0);
  EXPECT_THAT(result.first_error, HasSubstr("no extended CONNECT"));
}

TEST(Http2Load, ALostConnectionFailsWhatWasInFlightAndIsReplaced) {
  ScriptedOrigin origin([&](Peer& peer, int connection) {
    serve(peer, {}, [&](auto id, int request) {
      if (connection == 0 && request == 3) peer.end();  // The fourth is never answered.
      return connection == 0 && request >= 3 ? ""s : tiny_answer(id);
    });
  });
  const StepResult result = run_load(over_h2c(load_on(origin.port(), {}, 1)));
  EXPECT_EQ(result.errors, 1);
  EXPECT_THAT(result.first_error, HasSubstr("closed before the answer"));
  EXPECT_GT(result.ok, 3);
  EXPECT_EQ(origin.connections(), 2);
}

// RFC 9113 §6.8: what was above the last id belongs on another connection, and is no error.
TEST(Http2Load, TakesWhatGoawayLeftOutToAnotherConnection) {
  ScriptedOrigin origin([&](Peer& peer, int connection) {
    serve(peer, {}, [&](auto id, int request) {
      if (connection > 0 || request < 4) return tiny_answer(id);
      return request == 4 ? testing::frame(FrameType::goaway, 0, 0,
                                           testing::u32_text(id - 2) + testing::u32_text(0))
                          : ""s;
    });
  });
  const StepResult result = run_load(over_h2c(load_on(origin.port(), {}, 1)));
  expect_clean(result);
  EXPECT_GT(result.ok, 5);
  EXPECT_EQ(origin.connections(), 2);
}

// … but not for ever: an origin that takes nothing is an error.
TEST(Http2Load, GivesUpOnAnOriginThatTakesNothing) {
  ScriptedOrigin origin([&](Peer& peer, int) {
    serve(peer, {}, [&](auto, int) {
      return testing::frame(FrameType::goaway, 0, 0, testing::u32_text(0) + testing::u32_text(0));
    });
  });
  const StepResult result = run_load(over_h2c(load_on(origin.port(), {}, 1)), milliseconds(30));
  EXPECT_EQ(result.ok, 0);
  EXPECT_GE(result.errors, 1);
  EXPECT_LE(origin.connections(), 12);
}

// RFC 9113 §8.1: an early answer may end with RST_STREAM(NO_ERROR).
TEST(Http2Load, AnEarlyAnswerMayRefuseTheRestOfTheRequest) {
  ScriptedOrigin origin([&](Peer& peer, int) {
    serve(peer, {}, [&](auto id, int) {
      return tiny_answer(id) + testing::frame(FrameType::rst_stream, 0, id, testing::u32_text(0));
    });
  });
  // More than the window: the request could not end without the peer.
  const StepResult result = run_load(
      over_h2c(load_on(origin.port(), {.request_bytes = 200'000, .early_response_after = 1}, 1)));
  EXPECT_EQ(result.errors, 0) << result.first_error;
  EXPECT_GE(result.ok, 1);
}

TEST(Http2Load, AStepThatIsNotAnsweredIsAbortedAndTheNextStartsAnew) {
  std::atomic<bool> silent = true;
  ScriptedOrigin origin([&](Peer& peer, int) {
    serve(peer, {}, [&](auto id, int) { return silent ? ""s : tiny_answer(id); });
  });
  Driver driver(over_h2c(load_on(origin.port(), {}, 3)), nullptr, milliseconds(20));
  ASSERT_TRUE(driver.open_slots());
  const StepResult aborted = driver.measure(milliseconds(20));
  EXPECT_TRUE(aborted.aborted);
  EXPECT_EQ(aborted.errors, 3);
  silent = false;
  expect_clean(driver.measure(milliseconds(100)));
}

}  // namespace
}  // namespace titanium::probe
