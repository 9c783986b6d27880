// SPDX-License-Identifier: MIT
#include "cli/embedded_default.h"

#include <gtest/gtest.h>

namespace titanium::cli {
namespace {

TEST(EmbeddedConfig, HasAClearAndATlsListenerInFrontOfTheOrigin) {
  const auto origin = *net::SocketAddress::parse("127.0.0.1", 4711);
  const config::Config config = embedded_config(1, 2, origin);
  ASSERT_EQ(config.listeners.size(), 2u);
  EXPECT_EQ(config.listeners[0].port, 1);
  EXPECT_FALSE(config.listeners[0].decrypt_ssl);
  EXPECT_EQ(config.listeners[1].port, 2);
  EXPECT_TRUE(config.listeners[1].decrypt_ssl);
  for (const config::Listener& listener : config.listeners) {
    EXPECT_EQ(listener.host, "127.0.0.1");
    EXPECT_EQ(listener.forward_host, "127.0.0.1");
    EXPECT_EQ(listener.forward_port, 4711);
  }
}

TEST(EmbeddedHints, QuotesAPathThatAShellWouldSplit) {
  const auto hints =
      embedded_hints({"http://127.0.0.1:1", "https://127.0.0.1:2"}, "/home/a b/it's/root.pem");
  EXPECT_EQ(hints.back(), "  curl --cacert '/home/a b/it'\\''s/root.pem' https://127.0.0.1:2/");
}

TEST(EmbeddedProblem, NamesTheOptionThatChangesThePort) {
  config::Diagnostic problem;
  problem.message = "127.0.0.1:8080 is taken";
  problem.path = "listeners[0].port";
  EXPECT_EQ(describe_embedded_problem(problem),
            "127.0.0.1:8080 is taken; choose another one with --port N");
  problem.path = "listeners[1].port";
  EXPECT_TRUE(describe_embedded_problem(problem).ends_with("--tls-port N"));
}

TEST(ShellWord, LeavesHarmlessWordsAlone) {
  EXPECT_EQ(shell_word("/home/user/.local/share/titanium/root.pem"),
            "/home/user/.local/share/titanium/root.pem");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
}

}  // namespace
}  // namespace titanium::cli
