// SPDX-License-Identifier: MIT
#include "net/dns/ares_channel.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "unit/net/dns_server.h"

namespace titanium::net {
namespace {

using testing::DnsRecord;
using testing::DnsServer;
using testing::HostsFile;
using testing::run_until;

struct Receiver final : NameReceiver {
  void on_answer(NameAnswer result) override {
    ++count;
    answer = std::move(result);
  }
  [[nodiscard]] std::vector<std::string> ips() const {
    std::vector<std::string> texts;
    if (!answer || !answer->addresses) return texts;
    for (const auto& address : *answer->addresses) texts.push_back(address.ip());
    return texts;
  }
  int count = 0;
  std::optional<NameAnswer> answer;
};

class AresChannelTest : public ::testing::Test {
 protected:
  void look_up(const std::string& name) {
    channel->look_up(name, receiver);
    EXPECT_TRUE(run_until(loop, [&] { return receiver.count == 1; }));
  }

  EventLoop loop;
  DnsServer server{loop};
  HostsFile hosts{"10.1.2.3 known.test\n"};
  Receiver receiver;
  std::unique_ptr<AresChannel> channel = std::make_unique<AresChannel>(
      loop, Resolver::Options{
                .timeout = Duration(2000), .server = server.address(), .hosts_file = hosts.path()});
};

TEST_F(AresChannelTest, AsksForBothFamiliesAndTakesTheShortestTtl) {
  server.zone["a.test"] = {.addresses = {"192.0.2.1", "2001:db8::1"}, .ttl = 77};
  look_up("a.test");
  auto ips = receiver.ips();
  std::ranges::sort(ips);
  EXPECT_EQ(ips, (std::vector<std::string>{"192.0.2.1", "2001:db8::1"}));
  EXPECT_EQ(receiver.answer->ttl, std::chrono::seconds(77));
  EXPECT_EQ(server.queries("a.test", DnsServer::kTypeA), 1);
  EXPECT_EQ(server.queries("a.test", DnsServer::kTypeAaaa), 1);
}

TEST_F(AresChannelTest, AsksAgainOverTcpWhenTheAnswerIsTruncated) {
  server.zone["long.test"] = {.addresses = {"192.0.2.9"}, .manner = DnsRecord::Manner::truncates};
  look_up("long.test");
  EXPECT_EQ(receiver.ips(), std::vector<std::string>{"192.0.2.9"});
  EXPECT_GT(server.tcp_connections(), 0);
}

TEST_F(AresChannelTest, TakesALimitedNumberOfAddresses) {
  DnsRecord record{.manner = DnsRecord::Manner::truncates};
  for (int i = 1; i <= 200; ++i) record.addresses.push_back(fmt::format("192.0.2.{}", i));
  server.zone["many.test"] = record;
  look_up("many.test");
  EXPECT_EQ(receiver.ips().size(), Resolver::kAddresses);
}

TEST_F(AresChannelTest, NamesTheReasonOfAFailure) {
  server.zone["broken.test"] = {.manner = DnsRecord::Manner::fails};
  server.zone["empty.test"] = {};
  const std::pair<std::string, std::string_view> cases[] = {
      {"nowhere.test", "name not found"},
      {"empty.test", "name not found"},
      {"broken.test", "name server failed"},
      {"bad..name", "not a valid host name"},
  };
  for (const auto& [name, reason] : cases) {
    SCOPED_TRACE(name);
    receiver = {};
    look_up(name);
    ASSERT_FALSE(receiver.answer->addresses.has_value());
    const Error error = receiver.answer->addresses.error();
    EXPECT_EQ(error.what, reason);
    EXPECT_EQ(error.code, Code::unavailable);
    EXPECT_EQ(error.side, Side::origin);
    EXPECT_EQ(error.retry, Retry::always);
  }
}

TEST_F(AresChannelTest, AnswersFromTheHostsFileAtOnce) {
  channel->look_up("known.test", receiver);
  EXPECT_EQ(receiver.count, 1);
  EXPECT_EQ(receiver.ips(), std::vector<std::string>{"10.1.2.3"});
  EXPECT_EQ(server.all_queries(), 0);
}

TEST_F(AresChannelTest, AnswersOpenLookUpsWhenItEnds) {
  server.zone["silent.test"] = {.manner = DnsRecord::Manner::silent};
  channel->look_up("silent.test", receiver);
  testing::run_idle(loop);
  EXPECT_EQ(receiver.count, 0);
  channel.reset();
  EXPECT_EQ(receiver.count, 1);
  EXPECT_FALSE(receiver.answer->addresses.has_value());
  testing::run_idle(loop);
}

TEST_F(AresChannelTest, FailsEveryLookUpIfTheServerSettingMakesNoSense) {
  AresChannel broken(loop, {.timeout = Duration(100), .server = "not a server", .hosts_file = {}});
  broken.look_up("a.test", receiver);
  EXPECT_EQ(receiver.count, 1);
  EXPECT_FALSE(receiver.answer->addresses.has_value());
}

}  // namespace
}  // namespace titanium::net
