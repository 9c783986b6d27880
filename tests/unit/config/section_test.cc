// SPDX-License-Identifier: MIT
#include "config/section.h"

#include <gmock/gmock.h>

#include "unit/config/support.h"

namespace titanium::config {
namespace {

using testing::ElementsAre;

class SectionTest : public testing::Test {
 protected:
  Section parse(std::string_view text) {
    document_ = parse_yaml(text);
    EXPECT_TRUE(document_.problems.empty());
    return {context_, document_.root};
  }
  std::vector<std::string> problems() {
    std::vector<std::string> lines;
    for (const Diagnostic& diagnostic : report_.take()) {
      lines.push_back(format_diagnostic(diagnostic));
    }
    return lines;
  }

  Report report_{"f"};
  ReadContext context_{report_, "/"};
  ParsedDocument document_;
};

TEST_F(SectionTest, LeavesTheDefaultWhereTheFileSaysNothingOrNonsense) {
  const auto listeners =
      parse("listeners: [{}, {port: x, decryptSsl: 7, host: []}]").children("listeners");
  ASSERT_EQ(listeners.size(), 2U);
  for (const Section& section : listeners) {
    std::uint16_t port = 17;
    bool decrypt = true;
    std::string host = "default";
    section.read("port", port);
    section.read("decryptSsl", decrypt);
    section.read("host", host);
    EXPECT_EQ(port, 17);
    EXPECT_TRUE(decrypt);
    EXPECT_EQ(host, "default");
  }
  EXPECT_THAT(problems(),
              ElementsAre("f:1:18: error: listeners[1].port: 'x' is not a whole number",
                          "f:1:27: error: listeners[1].decryptSsl: '7' is not true or false",
                          "f:1:42: error: listeners[1].host: must be a text"));
}

TEST_F(SectionTest, ReportsAMistypedRequiredKeyBeforeTheKeyThatIsMissing) {
  const auto clusters =
      parse("clusters:\n  - color: red\n    idd: x\n    algorithm: Random\n").children("clusters");
  ASSERT_EQ(clusters.size(), 1U);
  std::string id;
  clusters[0].read("id", id);
  EXPECT_THAT(problems(),
              ElementsAre("f:2:5: warning: clusters[0]: unknown key 'color' is ignored",
                          "f:3:5: warning: clusters[0]: unknown key 'idd' is ignored; did you mean "
                          "'id'?",
                          "f:3:5: error: clusters[0].id: is required"));
}

TEST_F(SectionTest, KeepsTheIndicesOfItemsThatAreNoBlocks) {
  const auto listeners = parse("listeners: [a, {port: 5}]").children("listeners");
  ASSERT_EQ(listeners.size(), 2U);
  EXPECT_FALSE(listeners[0].is_given());
  std::uint16_t port = 0;
  listeners[1].read("port", port);
  EXPECT_EQ(port, 5);
  EXPECT_FALSE(listeners[0].is_sound("port"));
  EXPECT_TRUE(listeners[1].is_sound("port"));
  EXPECT_THAT(problems(), ElementsAre("f:1:13: error: listeners[0]: must be a block of keys"));
}

TEST_F(SectionTest, AsksForRequiredKeysInBlocksThatAreGivenOnly) {
  const Section file = parse("clusters: [{id: null}]");
  std::string id;
  file.children("clusters")[0].read("id", id);
  (void)file.children("routes");
  EXPECT_THAT(problems(), ElementsAre("f:1:13: error: clusters[0].id: is required"));
}

TEST_F(SectionTest, ReportsAKeyAtItsPlaceAndAnAbsentOneAtTheBlock) {
  const Section server = parse("server:\n  tls: {}\n").child("server");
  EXPECT_TRUE(server.is_given());
  server.error("tls", "here");
  server.warning("pooling", "not there", "do that");
  server.error("", "the block");
  EXPECT_THAT(problems(),
              ElementsAre("f:1:1: warning: server.pooling: not there; do that",
                          "f:1:1: error: server: the block", "f:2:3: error: server.tls: here"));
}

TEST_F(SectionTest, RoundsTimesToAMillisecondButNeverToOff) {
  const Section timeouts =
      parse(
          "server: {timeouts: {requestTimeoutSeconds: 1.23456, drainTimeoutSeconds: 0, "
          "connectTimeOutSeconds: 0.0004, idleReadTimeoutSeconds: 0.0006}}")
          .child("server")
          .child("timeouts");
  Duration request{1};
  Duration drain{1};
  Duration connect{1};
  Duration idle{5};
  timeouts.read("requestTimeoutSeconds", request);
  timeouts.read("drainTimeoutSeconds", drain);
  timeouts.read("connectTimeOutSeconds", connect);
  timeouts.read("idleReadTimeoutSeconds", idle);
  EXPECT_EQ(request, Duration(1235));
  EXPECT_EQ(drain, Duration(0));
  EXPECT_EQ(connect, Duration(1));
  EXPECT_EQ(idle, Duration(1));
  EXPECT_THAT(problems(), ElementsAre(testing::HasSubstr("is shorter than a millisecond")));
}

TEST_F(SectionTest, TakesAliasedBlocksAtTheirOwnPath) {
  const Section file = parse("clusters:\n- &c {id: a, tls: {serverName: 'x y'}}\n- *c\n");
  for (const Section& cluster : file.children("clusters")) {
    std::string name;
    cluster.child("tls").read("serverName", name);
  }
  EXPECT_THAT(problems(),
              ElementsAre("f:2:20: error: clusters[0].tls.serverName: 'x y' is not a valid host",
                          "f:2:20: error: clusters[1].tls.serverName: 'x y' is not a valid host"));
}

TEST_F(SectionTest, SuggestsIgnoredKeysToo) {
  (void)parse("server: {enablehttp3: true, qqqqqqqqqq: 1}").child("server");
  EXPECT_THAT(problems(), ElementsAre("f:1:10: warning: server: unknown key 'enablehttp3' is "
                                      "ignored; did you mean 'enableHttp3'?",
                                      "f:1:29: warning: server: unknown key 'qqqqqqqqqq' is "
                                      "ignored"));
}

}  // namespace
}  // namespace titanium::config
