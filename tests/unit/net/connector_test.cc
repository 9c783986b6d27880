// SPDX-License-Identifier: MIT
#include "net/connector.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <optional>

#include "unit/net/dns_server.h"

namespace titanium::net {
namespace {

using testing::DnsRecord;
using testing::DnsServer;
using testing::HostsFile;
using testing::loopback;
using testing::run_idle;
using testing::run_until;

struct Caller final : ConnectHandler {
  void on_connected(Result<std::unique_ptr<Transport>> result) override {
    ++count;
    if (result) {
      transport = std::move(*result);
    } else {
      error = result.error();
    }
    if (then) then();
  }
  int count = 0;
  std::unique_ptr<Transport> transport;
  std::optional<Error> error;
  std::function<void()> then;
  Connector::AttemptPtr attempt;
};

struct Accepted final : AcceptHandler {
  void on_accept(FileDescriptor socket, const SocketAddress&) override {
    sockets.push_back(std::move(socket));
  }
  std::vector<FileDescriptor> sockets;
};

// A port that answers with RST: bound, but nobody listens.
struct RefusingPort {
  explicit RefusingPort(std::string_view ip = "127.0.0.1") {
    const auto any = *SocketAddress::parse(ip, 0);
    socket =
        FileDescriptor(::socket(any.is_ipv6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    usable = ::bind(socket.get(), any.get(), any.length()) == 0;
    port = local_address_of(socket.get()).port();
  }
  FileDescriptor socket;
  bool usable = false;
  std::uint16_t port = 0;
};

// A port that answers nothing: its backlog is full, so the kernel drops further SYNs.
struct SilentPort {
  explicit SilentPort(const SocketAddress& at) {
    auto opened = listen_tcp(at, {.backlog = 0, .reuse_port = false});
    EXPECT_TRUE(opened.has_value());
    if (!opened) return;
    socket = std::move(*opened);
    address = local_address_of(socket.get());
    for (FileDescriptor& filler : fillers) {
      filler = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      (void)!::connect(filler.get(), address.get(), address.length());
    }
  }
  FileDescriptor socket;
  SocketAddress address;
  std::array<FileDescriptor, 4> fillers;
};

class ConnectorTest : public ::testing::Test {
 protected:
  ConnectorTest() {
    auto socket = listen_tcp(loopback(0), {});
    listener.emplace(loop, std::move(*socket), accepted, Logger());
    port = listener->local_address().port();
  }
  void connect(Caller& caller, std::string_view host, std::uint16_t to,
               Duration timeout = Duration(5000)) {
    caller.attempt = connector.connect(host, to, {.timeout = timeout}, caller);
  }
  [[nodiscard]] bool told(const Caller& caller) {
    return run_until(loop, [&] { return caller.count > 0; });
  }

  EventLoop loop;
  DnsServer server{loop};
  HostsFile hosts{""};
  Resolver resolver{
      loop, {.timeout = Duration(5000), .server = server.address(), .hosts_file = hosts.path()}};
  Connector connector{loop, resolver};
  Accepted accepted;
  std::optional<TcpListener> listener;
  std::uint16_t port = 0;
};

TEST_F(ConnectorTest, ConnectsToLiteralsAndNames) {
  server.zone["origin.test"] = {.addresses = {"127.0.0.1"}};
  for (const auto host : {"127.0.0.1", "origin.test", "localhost"}) {
    SCOPED_TRACE(host);
    Caller caller;
    connect(caller, host, port);
    EXPECT_EQ(caller.count, 0) << "never from within connect()";
    ASSERT_TRUE(told(caller));
    ASSERT_NE(caller.transport, nullptr);
    EXPECT_EQ(caller.transport->peer_address(), loopback(port));
    run_idle(loop);
    EXPECT_EQ(caller.count, 1);
  }
  EXPECT_EQ(accepted.sockets.size(), 3U);
}

struct Reader final : TransportHandler {
  void on_readable() override {
    std::array<std::uint8_t, 100> buffer;
    for (;;) {
      const ReadResult result = transport->read(buffer);
      last = result.status;
      if (last != ReadResult::Status::bytes) return;
      bytes.append(reinterpret_cast<const char*>(buffer.data()), result.bytes);
    }
  }
  void on_writable() override { ++writable; }
  std::unique_ptr<Transport> transport;
  std::string bytes;
  ReadResult::Status last = ReadResult::Status::would_block;
  int writable = 0;
};

TEST_F(ConnectorTest, HandsOverATransportThatKnowsWhatHappenedSince) {
  Caller caller;
  connect(caller, "127.0.0.1", port);
  ASSERT_TRUE(run_until(loop, [&] { return caller.count > 0 && !accepted.sockets.empty(); }));
  ASSERT_NE(caller.transport, nullptr);
  // A server that talks first and goes; nobody has set a handler yet.
  ASSERT_EQ(::send(accepted.sockets[0].get(), "hello", 5, 0), 5);
  accepted.sockets.clear();
  run_idle(loop);
  Reader reader;
  reader.transport = std::move(caller.transport);
  reader.transport->set_handler(&reader);
  ASSERT_TRUE(run_until(loop, [&] { return reader.last == ReadResult::Status::end; }));
  EXPECT_EQ(reader.bytes, "hello");
  EXPECT_EQ(reader.writable, 0) << "nothing was left behind";
}

TEST_F(ConnectorTest, SaysWhyThereIsNoConnection) {
  const RefusingPort refusing;
  Caller refused;
  connect(refused, "127.0.0.1", refusing.port);
  ASSERT_TRUE(told(refused));
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_EQ(refused.error->code, Code::unavailable);
  EXPECT_EQ(refused.error->side, Side::origin);
  EXPECT_EQ(refused.error->retry, Retry::always);
  EXPECT_EQ(refused.error->native, ECONNREFUSED);
  EXPECT_EQ(refused.error->what, "connection refused");

  Caller unknown;
  connect(unknown, "nowhere.test", port);
  EXPECT_EQ(unknown.count, 0);
  ASSERT_TRUE(told(unknown));
  EXPECT_EQ(unknown.error->code, Code::unavailable);
  EXPECT_EQ(unknown.error->what, "name not found");
  Caller cached;
  connect(cached, "nowhere.test", port);
  EXPECT_EQ(cached.count, 0) << "known at once, and still told later";
  ASSERT_TRUE(told(cached));
  EXPECT_EQ(cached.error->what, "name not found");

  Caller broadcast;  // The kernel refuses this within connect(2).
  connect(broadcast, "255.255.255.255", port);
  EXPECT_EQ(broadcast.count, 0);
  ASSERT_TRUE(told(broadcast));
  EXPECT_EQ(broadcast.error->code, Code::unavailable);
  EXPECT_NE(broadcast.error->native, 0);
}

TEST_F(ConnectorTest, TriesTheNextAddressAtOnceAfterAFailure) {
  // Nothing listens on the other addresses of the loopback network.
  server.zone["origin.test"] = {
      .addresses = {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1", "::1"}};
  for (int i = 0; i < 5; ++i) {
    Caller caller;
    const TimePoint start = Clock::now();
    connect(caller, "origin.test", port);
    ASSERT_TRUE(told(caller));
    ASSERT_NE(caller.transport, nullptr);
    EXPECT_EQ(caller.transport->peer_address(), loopback(port));
    EXPECT_LT(Clock::now() - start, Connector::kAttemptDelay);
  }
}

TEST_F(ConnectorTest, ReportsTheLastFailureWhenAllAddressesFail) {
  const RefusingPort refusing;
  server.zone["origin.test"] = {.addresses = {"127.0.0.1", "127.0.0.2", "127.0.0.3"}};
  Caller caller;
  connect(caller, "origin.test", refusing.port);
  ASSERT_TRUE(told(caller));
  ASSERT_TRUE(caller.error.has_value());
  EXPECT_EQ(caller.error->native, ECONNREFUSED);
}

TEST_F(ConnectorTest, RacesTheNextAddressWhenTheFirstDoesNotAnswer) {
  const SilentPort silent(*SocketAddress::parse("127.0.0.2", port));
  ASSERT_FALSE(silent.address.empty());
  // The hosts file keeps its order.
  const HostsFile ordered("127.0.0.2 origin.test\n127.0.0.1 origin.test\n");
  Resolver by_file(
      loop, {.timeout = Duration(1000), .server = server.address(), .hosts_file = ordered.path()});
  Connector racing(loop, by_file);
  Caller caller;
  loop.run_once(Duration(0));
  const TimePoint start = loop.now();
  caller.attempt = racing.connect("origin.test", port, {.timeout = Duration(8000)}, caller);
  ASSERT_TRUE(told(caller));
  ASSERT_NE(caller.transport, nullptr);
  EXPECT_EQ(caller.transport->peer_address(), loopback(port));
  EXPECT_GE(loop.now() - start, Connector::kAttemptDelay);
  EXPECT_LT(loop.now() - start, Connector::kAttemptDelay * 4);
}

TEST_F(ConnectorTest, TriesUnreachableIpv6LastUnlessToldOtherwise) {
  const RefusingPort refusing;
  // To TCP a multicast address is an unreachable network on any machine.
  const HostsFile three("ff0e::1 origin.test\n127.0.0.1 origin.test\n127.0.0.2 origin.test\n");
  Resolver by_file(
      loop, {.timeout = Duration(1000), .server = server.address(), .hosts_file = three.path()});
  Connector choosing(loop, by_file);
  // All addresses fail; the error is that of the one that was tried last. Where the families take
  // turns, that is IPv4, of which there are two.
  const auto ends_with_ipv4 = [&](bool soft_skip) {
    Caller caller;
    caller.attempt =
        choosing.connect("origin.test", refusing.port,
                         {.timeout = Duration(5000), .ipv6_soft_skip = soft_skip}, caller);
    EXPECT_TRUE(told(caller));
    return caller.error && caller.error->native == ECONNREFUSED;
  };
  EXPECT_TRUE(ends_with_ipv4(true)) << "nothing is known yet";
  EXPECT_TRUE(ends_with_ipv4(false));
  EXPECT_FALSE(ends_with_ipv4(true));
}

TEST_F(ConnectorTest, TimesOutWhenNobodyAnswers) {
  const SilentPort silent(loopback(0));
  Caller caller;
  loop.run_once(Duration(0));
  const TimePoint start = loop.now();
  connect(caller, "127.0.0.1", silent.address.port(), Duration(150));
  ASSERT_TRUE(told(caller));
  ASSERT_TRUE(caller.error.has_value());
  EXPECT_EQ(caller.error->code, Code::timed_out);
  EXPECT_EQ(caller.error->what, "connection attempt timed out");
  EXPECT_EQ(caller.error->retry, Retry::always);
  EXPECT_GE(loop.now() - start, Duration(150));
  run_idle(loop);
  EXPECT_EQ(caller.count, 1);
}

TEST_F(ConnectorTest, WaitsWithoutALimitWhenTheTimeoutIsZero) {
  const SilentPort silent(loopback(0));
  server.zone["origin.test"] = {.addresses = {"127.0.0.1"}};
  Caller patient;
  Caller quick;
  connect(patient, "127.0.0.1", silent.address.port(), Duration(0));
  connect(quick, "origin.test", port, Duration(0));
  ASSERT_TRUE(told(quick));
  EXPECT_NE(quick.transport, nullptr);
  run_idle(loop);
  EXPECT_EQ(patient.count, 0);
}

TEST_F(ConnectorTest, CountsTheNameLookUpAgainstTheTimeout) {
  server.zone["silent.test"] = {.manner = DnsRecord::Manner::silent};
  Caller caller;
  connect(caller, "silent.test", port, Duration(100));
  ASSERT_TRUE(told(caller));
  ASSERT_TRUE(caller.error.has_value());
  EXPECT_EQ(caller.error->code, Code::timed_out);
  EXPECT_EQ(caller.error->what, "name look-up timed out");
}

TEST_F(ConnectorTest, CallsNobodyAfterACancel) {
  const SilentPort silent(loopback(0));
  const RefusingPort refusing;
  server.zone["silent.test"] = {.manner = DnsRecord::Manner::silent};
  server.zone["origin.test"] = {.addresses = {"127.0.0.1"}};
  const std::pair<std::string_view, std::uint16_t> cases[] = {
      {"127.0.0.1", port},          {"127.0.0.1", silent.address.port()},
      {"127.0.0.1", refusing.port}, {"silent.test", port},
      {"origin.test", port},        {"255.255.255.255", port},
  };
  for (const auto& [host, to] : cases) {
    for (const int turns : {0, 1}) {
      SCOPED_TRACE(::testing::Message() << host << ":" << to << " after " << turns << " turns");
      Caller caller;
      connect(caller, host, to, Duration(30));
      for (int i = 0; i < turns; ++i) loop.run_once(Duration(0));
      const int before = caller.count;
      caller.attempt.reset();
      const TimePoint end = Clock::now() + Duration(60);
      while (Clock::now() < end) loop.run_once(Duration(20));
      EXPECT_EQ(caller.count, before);
    }
  }
}

TEST_F(ConnectorTest, LetsAHandlerDestroyItsOwnAndOtherAttempts) {
  const RefusingPort refusing;
  std::array<Caller, 6> callers;
  int told_in_all = 0;
  for (std::size_t i = 0; i < callers.size(); ++i) {
    callers[i].then = [&] {
      ++told_in_all;
      for (Caller& caller : callers) caller.attempt.reset();
    };
    connect(callers[i], "127.0.0.1", i % 2 == 0 ? port : refusing.port);
  }
  ASSERT_TRUE(run_until(loop, [&] { return told_in_all > 0; }));
  run_idle(loop);
  EXPECT_EQ(told_in_all, 1);
}

TEST_F(ConnectorTest, LetsAHandlerConnectAgain) {
  const RefusingPort refusing;
  Caller first;
  Caller second;
  first.then = [&] {
    first.attempt.reset();
    connect(second, "127.0.0.1", port);
  };
  connect(first, "127.0.0.1", refusing.port);
  ASSERT_TRUE(told(second));
  EXPECT_NE(second.transport, nullptr);
}

TEST_F(ConnectorTest, ClosesTheLosersOfTheRace) {
  const SilentPort silent(*SocketAddress::parse("127.0.0.2", port));
  const HostsFile ordered("127.0.0.2 origin.test\n127.0.0.1 origin.test\n");
  Resolver by_file(
      loop, {.timeout = Duration(1000), .server = server.address(), .hosts_file = ordered.path()});
  Connector racing(loop, by_file);
  const auto lowest_free = [] { return FileDescriptor(::dup(STDIN_FILENO)).get(); };
  const int before = lowest_free();
  Caller caller;
  caller.attempt = racing.connect("origin.test", port, {.timeout = Duration(8000)}, caller);
  ASSERT_TRUE(run_until(loop, [&] { return caller.count > 0 && accepted.sockets.size() == 1; }));
  caller.transport.reset();
  accepted.sockets.clear();
  run_idle(loop);
  // The attempt object still lives, its sockets do not.
  EXPECT_EQ(lowest_free(), before);
}

}  // namespace
}  // namespace titanium::net
