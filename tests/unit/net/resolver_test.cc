// SPDX-License-Identifier: MIT
#include "net/dns/resolver.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "unit/net/dns_server.h"

namespace titanium::net {
namespace {

using testing::DnsRecord;
using testing::DnsServer;
using testing::HostsFile;
using testing::run_idle;
using testing::run_until;
using Ips = std::vector<std::string>;

struct Waiter final : ResolveHandler {
  void on_resolved(Result<std::vector<SocketAddress>> addresses) override {
    ++count;
    answer = std::move(addresses);
    if (then) then();
  }
  [[nodiscard]] Ips texts() const {
    Ips texts;
    if (!answer || !*answer) return texts;
    for (const auto& address : **answer) texts.push_back(address.to_string());
    std::ranges::sort(texts);
    return texts;
  }
  [[nodiscard]] std::string_view reason() const {
    return answer && !*answer ? answer->error().what : std::string_view();
  }

  int count = 0;
  std::optional<Result<std::vector<SocketAddress>>> answer;
  std::function<void()> then;
  Resolver::QueryPtr query;
};

class ResolverTest : public ::testing::Test {
 protected:
  Resolver::Options options(Duration timeout = Duration(2000)) {
    return {.timeout = timeout, .server = server.address(), .hosts_file = hosts.path()};
  }
  void ask(Waiter& waiter, std::string_view host, std::uint16_t port = 80) {
    waiter.query = resolver->resolve(host, port, waiter);
  }
  [[nodiscard]] bool answered(const Waiter& waiter, int count = 1) {
    return run_until(loop, [&] { return waiter.count == count; });
  }

  EventLoop loop;
  DnsServer server{loop};
  HostsFile hosts{"10.1.2.3 known.test alias.test\n"};
  std::optional<Resolver> resolver{std::in_place, loop, options()};
};

TEST_F(ResolverTest, AnswersLiteralsAtOnce) {
  const std::pair<std::string_view, std::string> cases[] = {
      {"192.0.2.1", "192.0.2.1:80"}, {"::1", "[::1]:80"}, {"[::1]", "[::1]:80"}};
  for (const auto& [host, text] : cases) {
    Waiter waiter;
    ask(waiter, host);
    EXPECT_EQ(waiter.query, nullptr);
    EXPECT_EQ(waiter.texts(), Ips{text});
  }
  EXPECT_EQ(server.all_queries(), 0);
}

TEST_F(ResolverTest, RefusesWhatCannotBeAName) {
  using namespace std::literals;
  const std::string longest(255, 'a');
  for (const std::string_view host : {""sv, std::string_view(longest), "a\0b.test"sv}) {
    Waiter waiter;
    ask(waiter, host);
    EXPECT_EQ(waiter.query, nullptr);
    EXPECT_EQ(waiter.reason(), "not a valid host name");
  }
}

TEST_F(ResolverTest, TakesLocalhostAsLoopbackWithoutAQuery) {
  // RFC 6761 §6.3; the hosts file of this test does not know it.
  for (const auto host : {"localhost", "LocalHost", "app.localhost"}) {
    SCOPED_TRACE(host);
    Waiter waiter;
    ask(waiter, host);
    ASSERT_TRUE(answered(waiter));
    EXPECT_EQ(waiter.texts(), (Ips{"127.0.0.1:80", "[::1]:80"}));
  }
  EXPECT_EQ(server.all_queries(), 0);
}

TEST_F(ResolverTest, ReadsTheHostsFileFirst) {
  server.zone["known.test"] = {.addresses = {"192.0.2.1"}};
  for (const auto host : {"known.test", "alias.test", "KNOWN.test"}) {
    Waiter waiter;
    ask(waiter, host, 8080);
    ASSERT_TRUE(answered(waiter));
    EXPECT_EQ(waiter.texts(), Ips{"10.1.2.3:8080"});
  }
  EXPECT_EQ(server.all_queries(), 0);
}

TEST_F(ResolverTest, AnswersLaterWithBothFamiliesAndThePort) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1", "192.0.2.2", "2001:db8::1"}};
  Waiter waiter;
  ask(waiter, "a.test", 8443);
  EXPECT_NE(waiter.query, nullptr);
  EXPECT_EQ(waiter.count, 0);
  ASSERT_TRUE(answered(waiter));
  EXPECT_EQ(waiter.texts(), (Ips{"192.0.2.1:8443", "192.0.2.2:8443", "[2001:db8::1]:8443"}));
}

TEST_F(ResolverTest, SharesOneQueryAmongAllWhoAskForAName) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1"}};
  std::vector<Waiter> waiters(20);
  std::uint16_t port = 1;
  for (Waiter& waiter : waiters) {
    ask(waiter, port % 2 == 0 ? "a.test" : "A.TEST", port);
    ++port;
  }
  port = 1;
  for (const Waiter& waiter : waiters) {
    ASSERT_TRUE(answered(waiter));
    EXPECT_EQ(waiter.texts(), Ips{fmt::format("192.0.2.1:{}", port++)});
  }
  EXPECT_EQ(server.queries("a.test", DnsServer::kTypeA), 1);
}

TEST_F(ResolverTest, RemembersAnswersForTheirTtl) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1"}, .ttl = 1};
  Waiter first;
  ask(first, "a.test");
  ASSERT_TRUE(answered(first));
  Waiter second;
  ask(second, "a.test", 81);
  EXPECT_EQ(second.query, nullptr) << "answered at once";
  EXPECT_EQ(second.texts(), Ips{"192.0.2.1:81"});
  EXPECT_EQ(server.queries("a.test", DnsServer::kTypeA), 1);

  server.zone["a.test"].addresses = {"192.0.2.2"};
  const TimePoint expired = loop.now() + std::chrono::milliseconds(1001);
  ASSERT_TRUE(run_until(loop, [&] { return loop.now() >= expired; }));
  Waiter third;
  ask(third, "a.test");
  ASSERT_TRUE(answered(third));
  EXPECT_EQ(third.texts(), Ips{"192.0.2.2:80"});
}

TEST_F(ResolverTest, RemembersFailures) {
  Waiter first;
  ask(first, "nowhere.test");
  ASSERT_TRUE(answered(first));
  EXPECT_EQ(first.reason(), "name not found");
  EXPECT_EQ(first.answer->error().code, Code::unavailable);
  const int asked = server.all_queries();
  Waiter second;
  ask(second, "nowhere.test");
  EXPECT_EQ(second.query, nullptr);
  EXPECT_EQ(second.reason(), "name not found");
  EXPECT_EQ(server.all_queries(), asked);
}

TEST_F(ResolverTest, DoesNotCallAHandlerThatCancelled) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1"}};
  Waiter cancelled;
  Waiter other;
  ask(cancelled, "a.test");
  ask(other, "a.test");
  cancelled.query.reset();
  ASSERT_TRUE(answered(other));
  run_idle(loop);
  EXPECT_EQ(cancelled.count, 0);
}

TEST_F(ResolverTest, LetsHandlersCancelThemselvesAndOthersAndAskAgain) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1"}};
  server.zone["b.test"] = {.addresses = {"192.0.2.2"}};
  Waiter first;
  Waiter second;
  Waiter third;
  Waiter again;
  Waiter other_name;
  for (Waiter* waiter : {&first, &second, &third}) ask(*waiter, "a.test");
  first.then = [&] {
    first.query.reset();
    second.query.reset();
    ask(again, "a.test");
    ask(other_name, "b.test");
  };
  ASSERT_TRUE(answered(third));
  ASSERT_TRUE(answered(other_name));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 0);
  EXPECT_EQ(again.texts(), Ips{"192.0.2.1:80"});
  EXPECT_EQ(other_name.texts(), Ips{"192.0.2.2:80"});
  EXPECT_EQ(server.queries("a.test", DnsServer::kTypeA), 1);
}

TEST_F(ResolverTest, GivesUpOnASilentServer) {
  resolver.emplace(loop, options(Duration(150)));
  server.zone["silent.test"] = {.manner = DnsRecord::Manner::silent};
  Waiter waiter;
  ask(waiter, "silent.test");
  const TimePoint start = loop.now();
  ASSERT_TRUE(answered(waiter));
  EXPECT_EQ(waiter.reason(), "name look-up timed out");
  EXPECT_EQ(waiter.answer->error().code, Code::unavailable);
  EXPECT_LT(loop.now() - start, std::chrono::seconds(5));
}

TEST_F(ResolverTest, FailsWhenNoServerListens) {
  // A port that is taken, but by a TCP socket only.
  const auto tcp = listen_tcp(testing::loopback(0), {});
  resolver.emplace(loop, Resolver::Options{.timeout = Duration(500),
                                           .server = local_address_of(tcp->get()).to_string(),
                                           .hosts_file = hosts.path()});
  Waiter waiter;
  ask(waiter, "a.test");
  ASSERT_TRUE(answered(waiter));
  ASSERT_TRUE(waiter.answer.has_value());
  ASSERT_FALSE(waiter.answer->has_value());
  EXPECT_EQ(waiter.answer->error().code, Code::unavailable);
}

TEST_F(ResolverTest, LimitsTheNamesThatAreBeingLookedUp) {
  resolver.emplace(loop, options(Duration(10'000)));
  std::vector<Waiter> waiters(Resolver::kOpenNames + 1);
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    const std::string name = fmt::format("{}.test", i);
    server.zone[name] = {.manner = DnsRecord::Manner::silent};
    ask(waiters[i], name);
  }
  EXPECT_NE(waiters.front().query, nullptr);
  EXPECT_EQ(waiters.back().query, nullptr);
  EXPECT_EQ(waiters.back().reason(), "too many name look-ups at a time");
}

TEST_F(ResolverTest, CallsNobodyWhenItIsDestroyed) {
  server.zone["silent.test"] = {.manner = DnsRecord::Manner::silent};
  Waiter waiter;
  ask(waiter, "silent.test");
  run_idle(loop);
  resolver.reset();
  run_idle(loop);
  EXPECT_EQ(waiter.count, 0);
  waiter.query.reset();  // Outlived its resolver.
}

}  // namespace
}  // namespace titanium::net
