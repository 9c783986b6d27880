// SPDX-License-Identifier: MIT
//
// The same for what a server may say, or not, and what a client has to answer.
#include <string>
#include <vector>

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;

constexpr auto kProtocol = ErrorCode::protocol_error;
constexpr auto kFrameSize = ErrorCode::frame_size_error;
constexpr auto kFlow = ErrorCode::flow_control_error;

std::string ok(std::uint32_t id, const Lines& more = {}, std::uint8_t flags = kWhole) {
  Lines lines = {{":status", "200"}};
  lines.insert(lines.end(), more.begin(), more.end());
  return headers(id, lines, flags);
}

struct Case {
  std::string_view name;
  std::string input;  // Stream 1 is a GET that was sent, stream 3 a POST that goes on.
  ErrorCode code;
};

void open_two(Client& client) {
  client.request();
  client.request(http::Method::post, "/", {.kind = http::BodyKind::streamed});
  (void)client.say();
}

TEST(ClientConformance, EndsTheConnection) {
  const Case cases[] = {
      {"PUSH_PROMISE", frame(FrameType::push_promise, kWhole, 1, u32(2)), kProtocol},
      {"HEADERS of a stream that the server opens", ok(2), kProtocol},
      {"HEADERS of an idle stream", ok(5), kProtocol},
      {"DATA of an idle stream", data(5, "a"), kProtocol},
      {"DATA of an even stream", data(2, "a"), kProtocol},
      {"RST_STREAM of an idle stream", rst_stream(5, ErrorCode::cancel), kProtocol},
      {"WINDOW_UPDATE of an idle stream", window_update(5, 1), kProtocol},
      {"ENABLE_PUSH of 1", settings({{2, 1}}), kProtocol},
      {"PRIORITY_UPDATE", priority_update(1, "u=1"), kProtocol},
      {"HEADERS without a stream", ok(0), kProtocol},
      {"DATA without a stream", data(0, "a"), kProtocol},
      {"CONTINUATION without a block", continuation(1, "", kWhole), kProtocol},
      {"block interrupted", frame(FrameType::headers, 0, 1, "") + ping("12345678"), kProtocol},
      {"GOAWAY that takes more than before",
       goaway(1, ErrorCode::no_error) + goaway(3, ErrorCode::no_error), kProtocol},
      {"PING of 7 bytes", frame(FrameType::ping, 0, 0, "1234567"), kFrameSize},
      {"SETTINGS of 5 bytes", frame(FrameType::settings, 0, 0, "12345"), kFrameSize},
      {"frame that is too large", data(1, std::string(16'385, 'x')), kFrameSize},
      {"window of the connection over 2^31-1", window_update(0, 0x7fff'ffff), kFlow},
      {"block that is not HPACK", frame(FrameType::headers, kWhole, 1, "\x80"),
       ErrorCode::compression_error},
      {"HEADERS behind the end of the stream", ok(1, {}, kWhole | kEnd) + ok(1, {}, kWhole | kEnd),
       ErrorCode::stream_closed},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
      SCOPED_TRACE(std::string(c.name));
      Client client;
      open_two(client);
      expect_failed(client, client.hear(c.input, piece), c.code);
      EXPECT_EQ(client.failure.side, Side::origin);
    }
  }
}

TEST(ClientConformance, EndsTheStream) {
  const Case cases[] = {
      {"DATA before the head", data(1, "a"), kProtocol},
      {"trailers that do not end", ok(1) + headers(1, {{"x", "y"}}), kProtocol},
      {"interim response that ends", headers(1, {{":status", "100"}}, kWhole | kEnd), kProtocol},
      {"101", headers(1, {{":status", "101"}}), kProtocol},
      {"no status", headers(1, {{"x", "y"}}), kProtocol},
      {"status twice", ok(1, {{":status", "200"}}), kProtocol},
      {"pseudo-field of requests", ok(1, {{":path", "/"}}), kProtocol},
      {"pseudo-field in trailers", ok(1) + ok(1, {}, kWhole | kEnd), kProtocol},
      {"name in upper case", ok(1, {{"X-A", "b"}}), kProtocol},
      {"connection-specific field", ok(1, {{"connection", "close"}}), kProtocol},
      {"content-length longer than DATA", ok(1, {{"content-length", "4"}}) + data(1, "a", kEnd),
       kProtocol},
      {"content-length shorter than DATA", ok(1, {{"content-length", "4"}}) + data(1, "abcde"),
       kProtocol},
      {"content-length without DATA", ok(1, {{"content-length", "4"}}, kWhole | kEnd), kProtocol},
      {"204 with DATA", headers(1, {{":status", "204"}}) + data(1, "a", kEnd), kProtocol},
      {"304 with DATA", headers(1, {{":status", "304"}}) + data(1, "a", kEnd), kProtocol},
      {"WINDOW_UPDATE by zero", window_update(1, 0), kProtocol},
      {"PRIORITY that depends on itself", priority(1, 1), kProtocol},
      {"window over 2^31-1", window_update(1, 0x7fff'ffff), kFlow},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {std::string_view::npos, std::size_t{1}}) {
      SCOPED_TRACE(std::string(c.name));
      Client client;
      open_two(client);
      expect_reset(client, client.hear(c.input, piece), 1, c.code);
      EXPECT_EQ(client.last_reset.side, Side::origin);
      EXPECT_EQ(client.connection.stream_count(), 1U);
    }
  }
}

TEST(ClientConformance, EndsAStreamWithFramesBehindItsEnd) {
  Client client;
  open_two(client);
  ASSERT_TRUE(client.hear(ok(3, {}, kWhole | kEnd)));
  expect_reset(client, client.hear(data(3, "a")), 3, ErrorCode::stream_closed);

  Client other;
  open_two(other);
  ASSERT_TRUE(other.hear(ok(3, {}, kWhole | kEnd)));
  expect_reset(other, other.hear(headers(3, {{"x", "y"}}, kWhole | kEnd)), 3,
               ErrorCode::stream_closed);
}

TEST(ClientConformance, IgnoresWhatWasOnItsWayWhenAStreamWasReset) {
  Client client;
  open_two(client);
  client.connection.reset(client.stream(1), ErrorCode::cancel);
  EXPECT_THAT(client.say(), ElementsAre("RST_STREAM 1 CANCEL"));
  ASSERT_TRUE(client.hear(ok(1) + data(1, "abc") + window_update(1, 5) +
                          headers(1, {{"x", "y"}}, kWhole | kEnd)));
  ASSERT_TRUE(client.hear(rst_stream(1, ErrorCode::no_error)));
  EXPECT_THAT(client.told(), IsEmpty());
  EXPECT_THAT(client.say(), IsEmpty());
}

TEST(ClientConformance, RefusedStreamsMayBeSentAgain) {
  Client client;
  open_two(client);
  ASSERT_TRUE(client.hear(rst_stream(1, ErrorCode::refused_stream)));
  EXPECT_THAT(client.told(), ElementsAre("reset 1 REFUSED_STREAM"));
  EXPECT_EQ(client.last_reset.retry, Retry::always);
  ASSERT_TRUE(client.hear(rst_stream(3, ErrorCode::internal_error)));
  EXPECT_EQ(client.last_reset.retry, Retry::never);
}

TEST(ClientConformance, GoawayGivesBackWhatWasNotProcessed) {
  Client client;
  open_two(client);
  client.request();
  (void)client.say();
  ASSERT_TRUE(client.hear(goaway(1, ErrorCode::no_error)));
  Log told = client.told();
  std::ranges::sort(told);
  EXPECT_THAT(told, ElementsAre("goaway", "reset 3 REFUSED_STREAM", "reset 5 REFUSED_STREAM"));
  EXPECT_EQ(client.last_reset.retry, Retry::always);
  EXPECT_FALSE(client.connection.can_open());
  EXPECT_TRUE(client.connection.is_draining());
  ASSERT_TRUE(client.hear(ok(1, {}, kWhole | kEnd)));
  EXPECT_THAT(client.told(), ElementsAre("response 1 200 END", "closed 1"));
}

TEST(ClientConformance, GoawayMayComeInTwoSteps) {
  Client client;
  open_two(client);
  ASSERT_TRUE(client.hear(goaway(0x7fff'ffff, ErrorCode::no_error)));
  EXPECT_THAT(client.told(), ElementsAre("goaway"));
  EXPECT_FALSE(client.connection.can_open());
  ASSERT_TRUE(client.hear(goaway(1, ErrorCode::no_error)));
  EXPECT_THAT(client.told(), ElementsAre("reset 3 REFUSED_STREAM"));
}

TEST(ClientConformance, AHandlerMayEndOtherStreamsWhileGoawayIsTold) {
  Client client;
  open_two(client);
  client.request();
  (void)client.say();
  client.then = [&](std::string_view event, std::uint32_t) {
    if (event != "reset") return;
    client.connection.reset(client.stream(3), ErrorCode::cancel);
    client.connection.reset(client.stream(5), ErrorCode::cancel);
  };
  ASSERT_TRUE(client.hear(goaway(0, ErrorCode::no_error)));
  EXPECT_EQ(client.connection.stream_count(), 0U);
}

TEST(ClientConformance, WantsSettingsFirst) {
  Client client({}, false);
  expect_failed(client, client.hear(ping("12345678")), kProtocol);
}

TEST(ClientConformance, RefusesResponsesThatAreTooLarge) {
  Client client({.fields = {.list_bytes = 200, .fields = 10}});
  open_two(client);
  expect_reset(client, client.hear(ok(1, {{"x", std::string(200, 'x')}})), 1, ErrorCode::cancel);
  EXPECT_EQ(client.last_reset.code, Code::limit);
  EXPECT_EQ(client.last_reset.status, 502);
}

}  // namespace
}  // namespace titanium::http2
