// SPDX-License-Identifier: MIT
#include "load/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "load/driver.h"
#include "load/websocket.h"
#include "load_support.h"

namespace titanium::probe {
namespace {

using std::chrono::milliseconds;
using testing::all_workloads;
using testing::Certificates;
using testing::expect_clean;
using ::testing::HasSubstr;
using testing::load_on;
using testing::NamedWorkload;
using testing::OriginThread;
using testing::Peer;
using testing::run_load;
using testing::ScriptedOrigin;

LoadOptions over_tls(LoadOptions options, const Certificates& certificates) {
  options.target.wire = Wire::http1_tls;
  options.target.ca_file = certificates.path("root.pem");
  return options;
}

// Against the real origin -----------------------------------------------------------------------

TEST(LoadGenerator, RunsEveryWorkload) {
  const OriginThread origin;
  for (const NamedWorkload& row : all_workloads()) {
    SCOPED_TRACE(row.name);
    expect_clean(run_load(load_on(origin.port(), row.workload)));
  }
}

TEST(LoadGenerator, RunsEveryWorkloadOverTls) {
  const Certificates certificates;
  const OriginThread origin(with_tls(certificates));
  for (const NamedWorkload& row : all_workloads()) {
    SCOPED_TRACE(row.name);
    expect_clean(run_load(over_tls(load_on(origin.https_port(), row.workload), certificates)));
  }
}

TEST(LoadGenerator, WarmsUpAndMeasuresOnTheSameConnections) {
  const OriginThread origin;
  ScriptedOrigin counting([&](Peer& peer, int) {
    while (!peer.read_until("\r\n\r\n").empty()) {
      peer.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", kTinyJson.size(),
                            kTinyJson));
    }
  });
  auto generator = LoadGenerator::create(load_on(counting.port(), {}, 3)).value();
  generator->warm_up(milliseconds(50));
  const StepResult first = generator->measure(milliseconds(100));
  const StepResult second = generator->measure(milliseconds(100));
  expect_clean(first);
  expect_clean(second);
  EXPECT_EQ(counting.connections(), 3);
}

TEST(LoadGenerator, OpensAConnectionPerRequestIfItIsNotToKeepThem) {
  ScriptedOrigin counting([&](Peer& peer, int) {
    EXPECT_THAT(peer.read_until("\r\n\r\n"), HasSubstr("Connection: close\r\n"));
    // Without its own "close": the generator closes anyway.
    peer.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 57\r\n\r\n{}", kTinyJson));
    peer.read_all();
  });
  const StepResult result = run_load(load_on(counting.port(), {.keep_alive = false}, 2));
  expect_clean(result);
  EXPECT_EQ(counting.connections(), result.ok);
}

TEST(LoadGenerator, SendsAsManyRequestsAsTheRateAsksFor) {
  const OriginThread origin;
  LoadOptions options = load_on(origin.port(), {}, 2);
  options.rate = 500;
  const StepResult result = run_load(options, milliseconds(300));
  expect_clean(result);
  EXPECT_EQ(result.ok, 150);
}

// One slow answer holds up the requests behind it: each waits a little less, and all of that is
// latency. A closed loop would see one slow answer.
TEST(LoadGenerator, CountsLatencyFromTheTimeARequestWasDue) {
  ScriptedOrigin slow_once([&](Peer& peer, int) {
    for (int i = 0; !peer.read_until("\r\n\r\n").empty(); ++i) {
      if (i == 0) std::this_thread::sleep_for(milliseconds(200));
      peer.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 57\r\n\r\n{}", kTinyJson));
    }
  });
  LoadOptions options = load_on(slow_once.port(), {}, 1);
  options.rate = 100;
  const StepResult result = run_load(options, milliseconds(300));
  expect_clean(result);
  EXPECT_EQ(result.ok, 30);
  EXPECT_GE(result.latency.max(), 200'000);
  // Requests 1 to 9 were due in the first 100 ms and begun after 200 ms.
  EXPECT_GE(result.latency.percentile(70), 100'000);
}

TEST(LoadGenerator, ASlowConsumerPausesBetweenItsPortions) {
  const OriginThread origin;
  const StepResult result = run_load(
      load_on(origin.port(),
              {.response_bytes = 64 * 1024, .read_chunk_bytes = 16 * 1024, .read_pause_ms = 20}));
  expect_clean(result);
  EXPECT_GE(result.latency.percentile(0), 4 * 20'000);
}

TEST(LoadGenerator, ASlowConsumerLeavesTheRestToTheSender) {
  std::atomic<std::size_t> accepted = 0;
  constexpr std::size_t kBytes = 64 * 1024 * 1024;
  ScriptedOrigin pushing([&](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", kBytes));
    for (std::size_t sent = 0; sent < kBytes; sent += kPatternBytes) {
      if (!peer.send(pattern())) return;
      accepted += kPatternBytes;
    }
  });
  const LoadOptions options =
      load_on(pushing.port(),
              {.response_bytes = kBytes, .read_chunk_bytes = 16 * 1024, .read_pause_ms = 5}, 1);
  Driver driver(options, nullptr, milliseconds(0));
  ASSERT_TRUE(driver.open_slots());
  const StepResult result = driver.measure(milliseconds(200));
  EXPECT_TRUE(result.aborted);
  // 40 portions are 640 KiB; the sender's own buffer takes up to 4 MiB more. Without back-pressure
  // all of it would have come: loopback moves gigabytes per second.
  EXPECT_LT(accepted, 16 * 1024 * 1024);
}

// Errors ----------------------------------------------------------------------------------------

struct BadAnswer {
  const char* name;
  std::string answer;
  const char* error;
  Workload workload{};
};

std::string ok_with(std::size_t length, std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", length, body);
}

TEST(LoadGenerator, CountsEveryWrongAnswerAsAnErrorAndSaysWhich) {
  const std::string tiny(kTinyJson);
  const std::string accept = websocket::accept_of("dGhlIHNhbXBsZSBub25jZQ==");
  const std::string switching =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n";
  constexpr Workload kWebSocket{.kind = Workload::Kind::websocket, .message_bytes = 4};
  const std::string accepted = switching + "Sec-WebSocket-Accept: " + accept + "\r\n\r\n";
  const BadAnswer cases[] = {
      {"500", "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "GET / at {}: status 500"},
      {"404 with a body", "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", "status 404"},
      {"a redirect", "HTTP/1.1 302 Go\r\nContent-Length: 0\r\n\r\n", "status 302"},
      {"no answer", "", "the connection was closed before the answer"},
      {"half a head", "HTTP/1.1 200 OK\r\nContent-", "the connection was closed before the answer"},
      {"half a body", ok_with(57, tiny.substr(0, 20)), "the connection was closed after 20 bytes"},
      {"a shorter body", ok_with(56, tiny.substr(0, 56)), "the answer has only 56 bytes"},
      {"a longer body", ok_with(58, tiny + "x"), "wrong content after 0 bytes"},
      {"a lie about the length", ok_with(50, tiny), "the answer has only 50 bytes"},
      {"another body", ok_with(57, std::string(57, 'x')), "wrong content"},
      {"no body", "HTTP/1.1 204 No Content\r\n\r\n", "the answer has only 0 bytes"},
      {"no HTTP", "SSH-2.0-x\r\n\r\n", "bad answer"},
      {"bad chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "bad body"},
      {"until close, and cut", "HTTP/1.1 200 OK\r\n\r\n{\"service", "the answer has only 9 bytes"},
      {"no upgrade", ok_with(57, tiny), "status 200 to the upgrade", kWebSocket},
      {"a wrong key", switching + "Sec-WebSocket-Accept: x\r\n\r\n", "wrong Sec-WebSocket-Accept",
       kWebSocket},
      {"no key", switching + "\r\n", "wrong Sec-WebSocket-Accept", kWebSocket},
      {"a cut upgrade", switching, "closed during the upgrade", kWebSocket},
      {"another echo", accepted + "\x82\x04yyyy", "wrong echo after", kWebSocket},
      {"a short echo", accepted + "\x82\x02" + std::string(pattern().substr(0, 2)),
       "the echo has only 2 bytes", kWebSocket},
      {"a masked frame", accepted + "\x82\x84" + std::string(8, 'x'), "a masked frame", kWebSocket},
      {"a bad frame", accepted + "\xff\x04", "reserved bits", kWebSocket},
      {"a continuation of nothing", accepted + "\x80\x04yyyy", "nobody asked for", kWebSocket},
      {"a close frame", accepted + std::string("\x88\x00", 2), "the WebSocket was closed",
       kWebSocket},
      {"no echo", accepted, "before the echo was complete", kWebSocket},
  };
  for (const BadAnswer& row : cases) {
    SCOPED_TRACE(row.name);
    ScriptedOrigin origin([&](Peer& peer, int) {
      peer.read_until("\r\n\r\n");
      peer.send(row.answer);
      peer.end();
      peer.read_all();
    });
    const StepResult result = run_load(load_on(origin.port(), row.workload, 1), milliseconds(30));
    EXPECT_EQ(result.ok, 0);
    // The pauses after errors are 10, 20, … ms: some attempts, and no flood of them.
    EXPECT_GE(result.errors, 1);
    EXPECT_LE(result.errors, 4);
    EXPECT_EQ(result.latency.count(), 0);
    EXPECT_THAT(result.first_error,
                HasSubstr(fmt::format(fmt::runtime(row.error),
                                      fmt::format("127.0.0.1:{}", origin.port()))));
  }
}

TEST(LoadGenerator, GoesOnAfterAnError) {
  ScriptedOrigin origin([&](Peer& peer, int connection) {
    for (int i = 0; !peer.read_until("\r\n\r\n").empty(); ++i) {
      if (connection == 0 && i == 5) return;  // Cuts the first connection at its sixth request.
      peer.send(ok_with(57, kTinyJson));
    }
  });
  const StepResult result = run_load(load_on(origin.port(), {}, 1));
  EXPECT_EQ(result.errors, 1);
  EXPECT_GT(result.ok, 5);
  EXPECT_EQ(origin.connections(), 2);
  EXPECT_FALSE(result.aborted);
}

TEST(LoadGenerator, ReopensWithoutAnErrorWhatTheOriginAnnouncesToClose) {
  ScriptedOrigin origin([&](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 57\r\n\r\n");
    peer.send(kTinyJson);
  });
  const StepResult result = run_load(load_on(origin.port(), {}, 1));
  expect_clean(result);
  EXPECT_EQ(origin.connections(), result.ok);
}

TEST(LoadGenerator, AcceptsBodiesOfEveryFraming) {
  const std::string_view head = kTinyJson.substr(0, 30);
  const std::string_view tail = kTinyJson.substr(30);
  const std::string answers[] = {
      fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "{:x}\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
                  head.size(), head, tail.size(), tail),
      fmt::format("HTTP/1.1 200 OK\r\n\r\n{}", kTinyJson),
      fmt::format("HTTP/1.1 103 Early Hints\r\n\r\n{}", ok_with(57, kTinyJson)),
  };
  for (const std::string& answer : answers) {
    for (const std::size_t cut : {1UL, 7UL, 1000UL}) {
      ScriptedOrigin origin([&](Peer& peer, int) {
        peer.read_until("\r\n\r\n");
        for (std::size_t at = 0; at < answer.size(); at += cut) {
          peer.send(std::string_view(answer).substr(at, cut));
        }
      });
      const StepResult result = run_load(load_on(origin.port(), {.keep_alive = false}, 1));
      expect_clean(result);
    }
  }
}

TEST(LoadGenerator, AnEarlyAnswerCountsThoughTheConnectionEnds) {
  ScriptedOrigin origin([&](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.read_exactly(1000);
    peer.send(ok_with(57, kTinyJson));
    // Takes no more of the request, and closes.
    peer.end();
    std::this_thread::sleep_for(milliseconds(5));
  });
  const StepResult result = run_load(
      load_on(origin.port(), {.request_bytes = 20'000'000, .early_response_after = 1000}, 1));
  expect_clean(result);
  EXPECT_EQ(origin.connections(), result.ok);
}

TEST(LoadGenerator, ALateEndOfTheRequestIsPartOfTheLatency) {
  constexpr std::uint32_t kBytes = 64'000'000;  // More than the kernel takes in on both sides.
  ScriptedOrigin origin([&](Peer& peer, int) {
    for (;;) {
      if (peer.read_until("\r\n\r\n").empty()) return;
      peer.send(ok_with(57, kTinyJson));
      std::this_thread::sleep_for(milliseconds(30));
      peer.read_exactly(kBytes);
    }
  });
  const StepResult result =
      run_load(load_on(origin.port(), {.request_bytes = kBytes, .early_response_after = 1}, 1));
  expect_clean(result);
  EXPECT_GE(result.latency.percentile(0), 30'000);
}

TEST(LoadGenerator, ARefusedConnectionIsAnError) {
  const auto socket = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  const std::uint16_t port = net::local_address_of(socket->get()).port();
  ::shutdown(socket->get(), SHUT_RDWR);
  const StepResult result = run_load(load_on(port, {}, 2), milliseconds(30));
  EXPECT_EQ(result.ok, 0);
  EXPECT_GE(result.errors, 2);
  EXPECT_THAT(result.first_error, HasSubstr("Connection refused"));
}

TEST(LoadGenerator, AStepThatIsNotAnsweredIsAborted) {
  ScriptedOrigin silent([&](Peer& peer, int) { peer.read_all(); });
  Driver driver(load_on(silent.port(), {}, 3), nullptr, milliseconds(50));
  ASSERT_TRUE(driver.open_slots());
  const StepResult result = driver.measure(milliseconds(20));
  EXPECT_TRUE(result.aborted);
  EXPECT_EQ(result.ok, 0);
  EXPECT_EQ(result.errors, 3);
  EXPECT_THAT(result.first_error, HasSubstr("3 not answered"));
}

TEST(LoadGenerator, AnAbortedStepAtARateCountsWhatWasDue) {
  ScriptedOrigin silent([&](Peer& peer, int) { peer.read_all(); });
  LoadOptions options = load_on(silent.port(), {}, 1);
  options.rate = 1000;
  Driver driver(options, nullptr, milliseconds(20));
  ASSERT_TRUE(driver.open_slots());
  const StepResult result = driver.measure(milliseconds(20));
  EXPECT_TRUE(result.aborted);
  EXPECT_EQ(result.errors, 20);
}

TEST(LoadGenerator, AStepAfterAnAbortedOneStartsAnew) {
  std::atomic<bool> silent = true;
  ScriptedOrigin origin([&](Peer& peer, int) {
    while (!peer.read_until("\r\n\r\n").empty()) {
      if (!silent) peer.send(ok_with(57, kTinyJson));
    }
  });
  Driver driver(load_on(origin.port(), {}, 2), nullptr, milliseconds(20));
  ASSERT_TRUE(driver.open_slots());
  EXPECT_TRUE(driver.measure(milliseconds(20)).aborted);
  silent = false;
  expect_clean(driver.measure(milliseconds(100)));
}

TEST(LoadGenerator, AnUntrustedCertificateIsAnError) {
  const Certificates ours;
  const Certificates theirs;
  const OriginThread origin(with_tls(theirs));
  const StepResult result =
      run_load(over_tls(load_on(origin.https_port(), {}, 1), ours), milliseconds(30));
  EXPECT_EQ(result.ok, 0);
  EXPECT_GE(result.errors, 1);
  EXPECT_THAT(result.first_error, HasSubstr("TLS handshake"));
}

TEST(LoadGenerator, SaysWhatItCannotDo) {
  LoadOptions options = load_on(1, {});
  options.target.wire = Wire::http1_tls;
  options.target.ca_file = "/nonexistent";
  EXPECT_EQ(LoadGenerator::create(options).error().code, Code::config);
  options = load_on(1, {.kind = Workload::Kind::grpc});
  EXPECT_EQ(LoadGenerator::create(options).error().code, Code::config);
}

}  // namespace
}  // namespace titanium::probe
