// SPDX-License-Identifier: MIT
//
// The happy path of both roles, as conversations.
#include "http2/connection.h"

#include "unit/http2/support/playbook.h"

namespace titanium::http2 {
namespace {

using namespace test;
using http::BodyKind;
using http::Method;

TEST(ServerConnection, GreetsWithSettingsAndTheWindowOfTheConnection) {
  Server server({}, false);
  EXPECT_THAT(server.say(),
              ElementsAre("SETTINGS 4=262144 6=65536 9=1 3=256 8=1",
                          "WINDOW_UPDATE 0 " + std::to_string(4 * 1024 * 1024 - 65'535)));
}

TEST(ServerConnection, ConfirmsSettings) {
  Server server({}, false);
  (void)server.say();
  ASSERT_TRUE(server.hear(std::string(kPreface) + settings({{4, 1000}, {0xf0f0, 1}})));
  EXPECT_THAT(server.say(), ElementsAre("SETTINGS ACK"));
  EXPECT_TRUE(server.connection.received_settings());
}

TEST(ServerConnection, AnswersARequestWithoutBody) {
  Server server;
  ASSERT_TRUE(server.hear(get(1, "/a?b")));
  EXPECT_THAT(server.told(), ElementsAre("request 1 GET /a?b END"));
  server.respond(1, 200, {.kind = BodyKind::sized, .bytes = 5});
  server.send(1, "hello");
  server.end(1);
  EXPECT_TRUE(server.connection.has_output());
  EXPECT_THAT(server.say(),
              ElementsAre("HEADERS 1 :status=200 content-length=5", "DATA 1 END hello"));
  EXPECT_THAT(server.told(), ElementsAre("closed 1"));
  EXPECT_EQ(server.connection.stream_count(), 0U);
  EXPECT_FALSE(server.connection.has_output());
  EXPECT_EQ(server.pool.live(), 0U);
}

TEST(ServerConnection, PassesBodiesAndTrailersOn) {
  Server server;
  ASSERT_TRUE(server.hear(post(1) + data(1, "one") + padded_data(1, "two", 7)));
  ASSERT_TRUE(server.hear(headers(1, {{"x-sum", "7"}}, kWhole | kEnd)));
  EXPECT_THAT(server.told(),
              ElementsAre("request 1 POST /", "data 1 one", "data 1 two", "end 1 x-sum=7"));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  server.send(1, "body");
  server.end(1, {{"grpc-status", "0"}});
  EXPECT_THAT(server.say(),
              ElementsAre("HEADERS 1 :status=200", "DATA 1 body", "HEADERS 1 END grpc-status=0"));
  EXPECT_THAT(server.told(), ElementsAre("closed 1"));
}

TEST(ServerConnection, TellsTheSameHoweverTheInputIsCut) {
  const std::string input =
      post(1) + padded_data(1, "hello", 3) +
      frame(FrameType::headers, kEnd, 3, literal_block(get_lines()).substr(0, 9)) +
      continuation(3, literal_block(get_lines()).substr(9), kWhole) + data(1, "", kEnd) +
      ping("12345678") + get(5, "/last");
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    SCOPED_TRACE(piece);
    Server server;
    ASSERT_TRUE(server.hear(input, piece));
    std::string body;
    for (const auto& [id, text] : server.received) body += std::to_string(id) + text;
    EXPECT_EQ(body, "1hello");
    Log told = server.told();
    std::erase_if(told, [](const std::string& line) { return line.starts_with("data"); });
    EXPECT_THAT(told, ElementsAre("request 1 POST /", "request 3 GET / END", "end 1",
                                  "request 5 GET /last END"));
    EXPECT_THAT(server.say(), ElementsAre("PING ACK 12345678"));
  }
}

TEST(ServerConnection, SendsInterimResponsesFirst) {
  Server server;
  ASSERT_TRUE(server.hear(get(1)));
  server.respond(1, 103);
  server.respond(1, 204);
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 :status=103", "HEADERS 1 END :status=204"));
}

TEST(ServerConnection, ClosesAStreamOnlyWhenItsLastFrameWasProduced) {
  Server server;
  ASSERT_TRUE(server.hear(get(1)));
  (void)server.told();
  server.respond(1, 204);
  EXPECT_THAT(server.told(), IsEmpty());
  EXPECT_EQ(server.connection.stream_count(), 1U);
  (void)server.say();
  EXPECT_THAT(server.told(), ElementsAre("closed 1"));
}

TEST(ServerConnection, WaitsForTheRequestAfterAnEarlyAnswer) {
  Server server;
  ASSERT_TRUE(server.hear(post(1)));
  server.respond(1, 200, {.kind = BodyKind::sized, .bytes = 0});
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 END :status=200 content-length=0"));
  EXPECT_THAT(server.told(), ElementsAre("request 1 POST /"));
  ASSERT_TRUE(server.hear(data(1, "x", kEnd)));
  EXPECT_THAT(server.told(), ElementsAre("data 1 x", "end 1", "closed 1"));
}

TEST(ServerConnection, StopsARequestThatIsAnsweredEarly) {
  Server server;
  ASSERT_TRUE(server.hear(post(1)));
  server.respond(1, 200, {.kind = BodyKind::sized, .bytes = 0});
  (void)server.say();
  server.connection.reset(server.stream(1), ErrorCode::no_error);
  EXPECT_THAT(server.say(), ElementsAre("RST_STREAM 1 NO_ERROR"));
  // What was on its way is ignored.
  ASSERT_TRUE(server.hear(data(1, "x") + data(1, "", kEnd) + rst_stream(1, ErrorCode::cancel)));
  EXPECT_THAT(server.say(), IsEmpty());
}

TEST(ServerConnection, AResetDropsWhatIsQueued) {
  Server server;
  ASSERT_TRUE(server.hear(get(1) + get(3)));
  for (const std::uint32_t id : {1U, 3U}) {
    server.respond(id, 200, {.kind = BodyKind::streamed});
    server.send(id, "body");
  }
  server.connection.reset(server.stream(1), ErrorCode::internal_error);
  EXPECT_EQ(server.connection.stream_count(), 1U);
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 :status=200", "HEADERS 3 :status=200",
                                        "RST_STREAM 1 INTERNAL_ERROR", "DATA 3 body"));
  server.end(1);  // Nobody knows it any more.
  EXPECT_FALSE(server.connection.has_output());
}

TEST(ServerConnection, AHandlerMayResetAStreamWhileItIsTold) {
  for (const std::string_view when : {"request", "data", "end", "writable"}) {
    SCOPED_TRACE(when);
    Server server;
    server.then = [&](std::string_view event, std::uint32_t id) {
      if (event == "request" && when != event) {
        server.respond(id, 200, {.kind = BodyKind::streamed});
        server.send(id, std::string(kQueueHigh + 1, 'x'));
      }
      if (event == when) server.connection.reset(server.stream(id), ErrorCode::cancel);
    };
    ASSERT_TRUE(server.hear(settings({{4, 1'000'000}}) + window_update(0, 1'000'000)));
    ASSERT_TRUE(server.hear(post(1) + data(1, "a") + data(1, "b", kEnd)));
    EXPECT_THAT(server.say(), Contains("RST_STREAM 1 CANCEL"));
    EXPECT_EQ(server.connection.stream_count(), 0U);
    EXPECT_FALSE(server.connection.has_output());
  }
}

// RFC 9113 §4.3: also blocks that nobody wants change the table; else all that follow are garbage.
TEST(ServerConnection, FollowsTheTableThroughBlocksThatNobodyWants) {
  // Adds "x: y" to the table, as index 62, in front of what is there.
  const std::string adds("\x40\x01x\x01y", 5);
  const std::string block = literal_block(get_lines()) + adds;
  const auto unwanted = [&](std::uint32_t id, std::uint8_t flags = kWhole | kEnd) {
    return frame(FrameType::headers, flags, id, block);
  };
  const auto depends_on_itself = [&](std::uint32_t id) {
    return frame(FrameType::headers, kWhole | kEnd | flag::kPriority, id, u32(id) + "\x10" + block);
  };
  struct Row {
    std::string_view name;
    std::string input;
  };
  const Row rows[] = {
      {"closed by the peer's reset", post(1) + rst_stream(1, ErrorCode::cancel) + unwanted(1)},
      {"closed by our reset", get(1) + data(1, "x") + unwanted(1)},
      {"half-closed", get(1) + unwanted(1)},
      {"depends on itself", depends_on_itself(1)},
      {"depends on itself, open", post(1) + depends_on_itself(1)},
      {"malformed trailers", post(1) + unwanted(1)},
      {"trailers that do not end", post(1) + unwanted(1, kWhole)},
      {"malformed request", frame(FrameType::headers, kWhole | kEnd, 1, adds)},
      {"over the limits",
       frame(FrameType::headers, kWhole | kEnd, 1,
             literal_block(get_lines()) +
                 literal_block({{"z", std::string(200, 'z')}, {"z", std::string(200, 'z')}}) +
                 adds)},
      {"refused", unwanted(1)},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Server server({.fields = {.list_bytes = 400, .fields = 20}});
    server.refuses = row.name == "refused";
    ASSERT_TRUE(server.hear(row.input));
    server.refuses = false;
    (void)server.told();
    const std::string uses_it = literal_block(get_lines("/next")) + "\xbe";
    ASSERT_TRUE(server.hear(frame(FrameType::headers, kWhole | kEnd, 7, uses_it)));
    EXPECT_THAT(server.told(), ElementsAre("request 7 GET /next x=y END"));
  }
}

TEST(ServerConnection, DrainsWithTheHighestIdThatItTook) {
  Server server;
  ASSERT_TRUE(server.hear(get(1) + get(3)));
  (void)server.told();
  server.connection.start_drain();
  server.connection.start_drain();
  EXPECT_TRUE(server.connection.is_draining());
  EXPECT_THAT(server.say(), ElementsAre("GOAWAY 3 NO_ERROR"));
  ASSERT_TRUE(server.hear(get(5)));
  EXPECT_THAT(server.told(), IsEmpty());
  EXPECT_THAT(server.say(), ElementsAre("RST_STREAM 5 REFUSED_STREAM"));
  server.respond(3, 204);
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 3 END :status=204"));
}

TEST(ServerConnection, OpensATunnelForExtendedConnect) {
  Server server;
  Lines lines = get_lines("/chat");
  lines[0].second = "CONNECT";
  lines.insert(lines.begin(), {":protocol", "websocket"});
  ASSERT_TRUE(server.hear(headers(1, lines)));
  EXPECT_THAT(server.told(), ElementsAre("request 1 GET /chat"));
  EXPECT_EQ(server.stream(1).request.upgrade, "websocket");
  EXPECT_TRUE(server.stream(1).is_upgrade());
  server.respond(1, 101, {.kind = BodyKind::tunnel});
  server.send(1, "ws");
  ASSERT_TRUE(server.hear(data(1, "up")));
  EXPECT_THAT(server.told(), ElementsAre("data 1 up"));
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 :status=200", "DATA 1 ws"));
  server.end(1);
  EXPECT_THAT(server.say(), ElementsAre("DATA 1 END "));
}

TEST(ServerConnection, DoesNotOpenATunnelForAnAnswerThatOnlyLooksLikeIt) {
  Server server;
  Lines lines = get_lines("/chat");
  lines[0].second = "CONNECT";
  lines.insert(lines.begin(), {":protocol", "websocket"});
  ASSERT_TRUE(server.hear(headers(1, lines)));
  server.respond(1, 200, {.kind = BodyKind::streamed});
  server.send(1, "not for the tunnel");
  server.end(1);
  EXPECT_THAT(server.say(), ElementsAre("HEADERS 1 END :status=502 content-length=0"));
}

TEST(ClientConnection, GreetsWithThePrefaceAndForbidsPush) {
  Client client({}, false);
  EXPECT_THAT(client.say(),
              ElementsAre("SETTINGS 4=262144 6=65536 9=1 2=0",
                          "WINDOW_UPDATE 0 " + std::to_string(4 * 1024 * 1024 - 65'535)));
}

TEST(ClientConnection, ExchangesARequestAndItsResponse) {
  Client client;
  client.request(Method::get, "/a");
  EXPECT_THAT(client.say(),
              ElementsAre("HEADERS 1 END :method=GET :scheme=http :path=/a :authority=a.example"));
  ASSERT_TRUE(client.hear(headers(1, {{":status", "103"}, {"link", "x"}})));
  ASSERT_TRUE(client.hear(headers(1, {{":status", "200"}, {"content-length", "5"}})));
  ASSERT_TRUE(client.hear(data(1, "hello", kEnd)));
  EXPECT_THAT(client.told(), ElementsAre("response 1 103 link=x", "response 1 200 content-length=5",
                                         "data 1 hello", "end 1", "closed 1"));
  EXPECT_EQ(client.connection.stream_count(), 0U);
}

TEST(ClientConnection, SendsABodyAndTrailers) {
  Client client;
  client.request(Method::post, "/", {.kind = BodyKind::streamed});
  client.send(1, "abc");
  client.end(1, {{"x-sum", "3"}});
  EXPECT_THAT(client.say(),
              ElementsAre("HEADERS 1 :method=POST :scheme=http :path=/ :authority=a.example",
                          "DATA 1 abc", "HEADERS 1 END x-sum=3"));
  ASSERT_TRUE(client.hear(headers(1, {{":status", "204"}}, kWhole | kEnd)));
  EXPECT_THAT(client.told(), ElementsAre("response 1 204 END", "closed 1"));
}

TEST(ClientConnection, OpensATunnelByExtendedConnect) {
  Client client({}, false);
  EXPECT_FALSE(client.connection.peer_takes_extended_connect());
  ASSERT_TRUE(client.hear(settings({{8, 1}})));
  EXPECT_TRUE(client.connection.peer_takes_extended_connect());
  (void)client.say();
  client.request(Method::get, "/chat", {}, "websocket");
  EXPECT_THAT(client.say(),
              ElementsAre("HEADERS 1 :method=CONNECT :protocol=websocket :scheme=http :path=/chat "
                          ":authority=a.example"));
  ASSERT_TRUE(client.hear(headers(1, {{":status", "200"}}) + data(1, "ws")));
  EXPECT_THAT(client.told(), ElementsAre("response 1 101", "data 1 ws"));
  EXPECT_EQ(client.stream(1).response.upgrade, "websocket");
  EXPECT_EQ(client.stream(1).response.body.kind, BodyKind::tunnel);
}

TEST(ClientConnection, AnswersToHeadHaveNoBody) {
  Client client;
  client.request(Method::head);
  (void)client.say();
  ASSERT_TRUE(
      client.hear(headers(1, {{":status", "200"}, {"content-length", "5"}}, kWhole | kEnd)));
  EXPECT_THAT(client.told(), ElementsAre("response 1 200 content-length=5 END", "closed 1"));
  EXPECT_EQ(client.stream(1).response.declared_length, 5U);
}

TEST(ClientConnection, OpensAsManyStreamsAsThePeerAllows) {
  Client client({}, false);
  EXPECT_EQ(client.connection.peer_concurrent_streams(), 100U);
  ASSERT_TRUE(client.hear(settings({{3, 2}})));
  EXPECT_EQ(client.connection.peer_concurrent_streams(), 2U);
  client.request();
  EXPECT_TRUE(client.connection.can_open());
  client.request();
  EXPECT_FALSE(client.connection.can_open());
  (void)client.say();
  ASSERT_TRUE(client.hear(headers(3, {{":status", "204"}}, kWhole | kEnd)));
  EXPECT_TRUE(client.connection.can_open());
}

}  // namespace
}  // namespace titanium::http2
