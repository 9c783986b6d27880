// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "control/server.h"
#include "load_support.h"

namespace titanium::probe::control {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = ControlOptions::Kind;
using testing::all_workloads;
using testing::Certificates;
using testing::expect_clean;
using testing::load_on;
using testing::NamedWorkload;
using testing::OriginThread;
using testing::Peer;
using testing::run_load;
using testing::ScriptedOrigin;

std::unique_ptr<Server> start(Kind kind, std::uint16_t origin_port,
                              const Certificates* certificates = nullptr) {
  ControlOptions options{
      .kind = kind, .origin_port = origin_port, .certificate_file = {}, .key_file = {}};
  if (certificates != nullptr) {
    options.certificate_file = certificates->path("leaf.pem");
    options.key_file = certificates->path("leaf.key");
  }
  return Server::start(options).value();
}

TEST(Control, PassesEveryWorkload) {
  const OriginThread origin;
  for (const Kind kind : {Kind::relay, Kind::reverse_http1}) {
    const auto server = start(kind, origin.port());
    for (const NamedWorkload& row : all_workloads()) {
      SCOPED_TRACE(fmt::format("{} {}", kind == Kind::relay ? "relay" : "reverse", row.name));
      expect_clean(run_load(load_on(server->port(), row.workload)));
    }
  }
}

TEST(Control, PassesEveryWorkloadWithTlsOnTheClientLeg) {
  const Certificates certificates;
  const OriginThread origin;
  for (const Kind kind : {Kind::relay, Kind::reverse_http1}) {
    const auto server = start(kind, origin.port(), &certificates);
    for (const NamedWorkload& row : all_workloads()) {
      SCOPED_TRACE(fmt::format("{} {}", kind == Kind::relay ? "relay" : "reverse", row.name));
      LoadOptions options = load_on(server->port(), row.workload);
      options.target.wire = Wire::http1_tls;
      options.target.ca_file = certificates.path("root.pem");
      expect_clean(run_load(options));
    }
  }
}

TEST(Control, SaysWhyItDoesNotStart) {
  const auto taken = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  const std::uint16_t port = net::local_address_of(taken->get()).port();
  EXPECT_THAT(Server::start({.port = port, .certificate_file = {}, .key_file = {}}).error(),
              HasSubstr("Address already in use"));
  EXPECT_THAT(
      Server::start({.certificate_file = "/nonexistent", .key_file = "/nonexistent"}).error(),
      HasSubstr("certificate"));
}

TEST(Relay, PassesTheEndOfEachDirectionOn) {
  ScriptedOrigin origin([](Peer& peer, int) {
    const std::string all = peer.read_all();  // Until the client's FIN.
    peer.send("got " + all);
  });
  const auto server = start(Kind::relay, origin.port());
  Peer peer = Peer::connect(server->port());
  peer.send("bytes");
  peer.end();
  EXPECT_EQ(peer.read_all(), "got bytes");
}

TEST(Relay, ClosesTheClientIfTheOriginRefuses) {
  const auto socket = net::listen_tcp(testing::loopback(0), {.reuse_port = false, .accepted = {}});
  const std::uint16_t port = net::local_address_of(socket->get()).port();
  ::shutdown(socket->get(), SHUT_RDWR);
  const auto server = start(Kind::relay, port);
  EXPECT_EQ(Peer::connect(server->port()).read_all(), "");
}

// Answers each request with the head that came.
void reflect(Peer& peer, int /*connection*/) {
  for (;;) {
    const std::string head = peer.read_until("\r\n\r\n");
    if (head.empty()) return;
    peer.send(
        fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nKeep-Alive: x\r\n"
                    "Connection: keep-alive\r\n\r\n{}",
                    head.size(), head));
  }
}

TEST(Reverse, UsesPooledConnectionsForClientsThatClose) {
  ScriptedOrigin origin(reflect);
  const auto server = start(Kind::reverse_http1, origin.port());
  for (int i = 0; i < 10; ++i) {
    Peer peer = Peer::connect(server->port());
    peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string answer = peer.read_all();
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Keep-Alive")));
    EXPECT_THAT(answer, EndsWith("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  // One per worker at most; which worker gets a client is up to the kernel.
  EXPECT_LE(origin.connections(), static_cast<int>(Server::kWorkers));
}

TEST(Reverse, AnswersPipelinedRequestsInOrder) {
  ScriptedOrigin origin(reflect);
  const auto server = start(Kind::reverse_http1, origin.port());
  Peer peer = Peer::connect(server->port());
  peer.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = peer.read_all();
  const std::size_t second = answers.find("GET /2");
  EXPECT_LT(answers.find("GET /1"), second);
  EXPECT_LT(second, answers.find("GET /3"));
  EXPECT_NE(answers.find("GET /3"), std::string::npos);
}

TEST(Reverse, PassesWhateverPiecesTheHeadsComeIn) {
  ScriptedOrigin origin([](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    for (const char byte : std::string_view("HTTP/1.1 103 Hints\r\n\r\n"
                                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                            "2\r\nok\r\n0\r\n\r\n")) {
      peer.send({&byte, 1});
    }
    peer.read_all();
  });
  const auto server = start(Kind::reverse_http1, origin.port());
  Peer peer = Peer::connect(server->port());
  for (const char byte : std::string_view("GET / HTTP/1.1\r\nHost: a\r\n\r\n")) {
    peer.send({&byte, 1});
  }
  EXPECT_EQ(peer.read_until("0\r\n\r\n"),
            "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "2\r\nok\r\n0\r\n\r\n");
}

TEST(Reverse, ABodyUntilCloseEndsTheClientConnection) {
  ScriptedOrigin origin([](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nall of it");
  });
  const auto server = start(Kind::reverse_http1, origin.port());
  Peer peer = Peer::connect(server->port());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(peer.read_all(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it");
}

TEST(Reverse, AnAnswerThatIsCutCutsTheClient) {
  ScriptedOrigin origin([](Peer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  const auto server = start(Kind::reverse_http1, origin.port());
  Peer peer = Peer::connect(server->port());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(peer.read_all(), EndsWith("half"));
}

TEST(Reverse, SaysWhatIsWrong) {
  ScriptedOrigin origin([](Peer& peer, int) {
    if (!peer.read_until("\r\n\r\n").empty()) peer.send("nonsense\r\n\r\n");
  });
  const auto server = start(Kind::reverse_http1, origin.port());
  Peer bad = Peer::connect(server->port());
  bad.send("nonsense\r\n\r\n");
  EXPECT_THAT(bad.read_all(), StartsWith("HTTP/1.1 400 "));
  Peer good = Peer::connect(server->port());
  good.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(good.read_all(), StartsWith("HTTP/1.1 502 "));

  ScriptedOrigin silent([](Peer& peer, int) { peer.read_until("\r\n\r\n"); });
  const auto other = start(Kind::reverse_http1, silent.port());
  Peer third = Peer::connect(other->port());
  third.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(third.read_all(), StartsWith("HTTP/1.1 502 "));
}

}  // namespace
}  // namespace titanium::probe::control
