// SPDX-License-Identifier: MIT
#include "proxy/client/client_greeting.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

#include "http2/frames/frame.h"
#include "unit/proxy/proxy_fixture.h"

namespace titanium::proxy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// SETTINGS, the first frame of a server (RFC 9113 §3.4), behind its length.
constexpr std::string_view kSettings("\x04\x00\x00\x00\x00\x00", 6);
constexpr std::string_view kGoaway("\x07\x00\x00\x00\x00\x00", 6);

using ClientGreetingTest = testing::ProxyTest;

TEST_F(ClientGreetingTest, TellsTheVersionsApart) {
  struct Case {
    std::string_view name;
    std::string_view first;
    bool http2;
    std::string_view answer;
  };
  const Case cases[] = {
      {"preface", http2::kPreface, true, kSettings},
      {"words that are no request", "INVALID CONNECTION PREFACE\r\n\r\n", true, kGoaway},
      {"words that begin with a method", "GET FOO BAR\r\n\r\n", false, "HTTP/1.1 400 "},
      {"words with others than capitals", "get foo bar\r\n\r\n", false, "HTTP/1.1 400 "},
      {"a target without its slash", "FETCH INDEX.HTML HTTP\r\n\r\n", false, "HTTP/1.1 400 "},
      {"too few words", "CONNECTION PREFACE\r\n\r\n", false, "HTTP/1.1 400 "},
      {"too many words", "ONE MORE BAD PREFACE\r\n\r\n", false, "HTTP/1.1 400 "},
      {"words and a space", "BAD PREFACE \r\n\r\n", false, "HTTP/1.1 400 "},
      {"one word", "GARBAGE\r\n\r\n", false, "HTTP/1.1 400 "},
      {"a bad version", "GET / HTP/1.1\r\n\r\n", false, "HTTP/1.1 400 "},
      {"a target and no version", "GET / one\r\n\r\n", false, "HTTP/1.1 400 "},
      {"a version and no target", "GET one HTTP/1.1\r\n\r\n", false, "HTTP/1.1 400 "},
      {"a preface of another version", "PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n", false, "HTTP/1.1 "},
  };
  start();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto client = connect_client();
    client->send(c.first);
    const std::string said = receive_until(*client, c.answer);
    if (c.http2) {
      EXPECT_EQ(std::string_view(said).substr(3, kSettings.size()), kSettings);
    } else {
      EXPECT_THAT(said, StartsWith(c.answer));
    }
  }
}

// What the network makes of it changes no verdict.
TEST_F(ClientGreetingTest, TellsTheVersionsApartAtEveryCut) {
  start();
  for (const std::string_view first : {"INVALID CONNECTION PREFACE\r\n\r\n", "GET FOO BAR\r\n\r\n",
                                       "PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n"}) {
    for (std::size_t cut = 1; cut < first.size(); ++cut) {
      SCOPED_TRACE(std::string(first.substr(0, cut)));
      const auto client = connect_client();
      client->send(first.substr(0, cut));
      pump();
      client->send(first.substr(cut));
      const std::string_view answer = first.starts_with("INVALID") ? kGoaway : "HTTP/1.1 ";
      EXPECT_THAT(receive_until(*client, answer), HasSubstr(answer));
    }
  }
}

TEST_F(ClientGreetingTest, AnInvalidPrefaceEndsInGoaway) {
  start();
  const auto client = connect_client();
  client->send("INVALID CONNECTION PREFACE\r\n\r\n");
  EXPECT_THAT(receive_until(*client, "bad connection preface"), HasSubstr(kGoaway));
  pump_until([&] { return client->receive().empty() && client->ended(); });
  EXPECT_FALSE(client->was_reset());
}

// Without a limit for heads the general one is left, as for all that stalls.
TEST_F(ClientGreetingTest, WaitsForTheRestOfAPrefaceOnlySoLong) {
  options().timeouts.client_header = net::Duration(0);
  options().timeouts.idle = net::Duration(50);
  start();
  const auto client = connect_client();
  client->send(http2::kPreface.substr(0, 5));
  pump_until([&] {
    (void)client->receive();
    return client->ended() || client->was_reset();
  });
}

}  // namespace
}  // namespace titanium::proxy
