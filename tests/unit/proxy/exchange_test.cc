// SPDX-License-Identifier: MIT
#include "proxy/exchange.h"

#include <gmock/gmock.h>

#include "unit/proxy/proxy_fixture.h"

namespace titanium::proxy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n";
constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class ExchangeTest : public ProxyTest {
 protected:
  // One whole exchange on these two connections.
  void exchange(Peer& client, Peer& origin, std::string_view request, std::string_view response) {
    client.send(request);
    receive_until(origin, "\r\n\r\n");
    origin.send(response);
    receive_until(client, "ok");
  }

  // The first exchange of a client; returns the origin connection that it made, idle now.
  std::unique_ptr<Peer> first_exchange(Peer& client) {
    client.send(kGet);
    auto origin = accept_origin();
    receive_until(*origin, "\r\n\r\n");
    origin->send(kOk);
    receive_until(client, "ok");
    return origin;
  }
};

TEST_F(ExchangeTest, CarriesARequestToTheOriginAndItsResponseBack) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  const std::string request = receive_until(*origin, "\r\n\r\n");
  EXPECT_THAT(request, StartsWith("GET /a?b HTTP/1.1\r\nHost: example.org\r\n"));
  EXPECT_THAT(request, HasSubstr("Via: 1.1 titanium\r\n"));
  EXPECT_THAT(request, HasSubstr("X-Forwarded-For: 127.0.0.1\r\n"));
  origin->send(kOk);
  const std::string response = receive_until(*client, "ok");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(response, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(response, HasSubstr("Date: "));
}

TEST_F(ExchangeTest, ReusesBothConnectionsAndHoldsNoChunkWhileTheyAreIdle) {
  start();
  auto client = connect_client();
  auto origin = first_exchange(*client);
  for (int i = 0; i < 3; ++i) exchange(*client, *origin, kGet, kOk);
  pump();
  EXPECT_FALSE(origin_has_connection());
  EXPECT_EQ(worker().chunks().live(), 0U);
  EXPECT_EQ(worker().pool(options().endpoints[0]).idle_count(), 1U);
}

TEST_F(ExchangeTest, SendsAnIdempotentRequestAgainWhenTheIdleConnectionWasJustClosed) {
  start();
  auto client = connect_client();
  auto first = first_exchange(*client);
  client->send(kGet);
  receive_until(*first, "\r\n\r\n");
  first->close();
  auto second = accept_origin();
  EXPECT_THAT(receive_until(*second, "\r\n\r\n"), StartsWith("GET /a?b "));
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExchangeTest, ReplaysTheBodyOfAnIdempotentRequest) {
  start();
  auto client = connect_client();
  auto first = first_exchange(*client);
  client->send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  receive_until(*first, "hello");
  first->close();
  auto second = accept_origin();
  EXPECT_THAT(receive_until(*second, "hello"), StartsWith("PUT /x "));
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExchangeTest, NeverSendsAPostTwice) {
  start();
  auto client = connect_client();
  auto origin = first_exchange(*client);
  client->send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  receive_until(*origin, "hello");
  origin->close();
  EXPECT_THAT(receive_until(*client, "origin 127.0.0.1"), StartsWith("HTTP/1.1 502 "));
  EXPECT_FALSE(origin_has_connection());
}

TEST_F(ExchangeTest, FindsAClosedIdleConnectionBeforeAPostIsSentOnIt) {
  start();
  auto client = connect_client();
  auto first = first_exchange(*client);
  first->shutdown_write();
  first->wait_until_delivered();
  client->send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  auto second = accept_origin();
  receive_until(*second, "hello");
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExchangeTest, NeverReusesAnOriginConnectionThatHasExtraBytes) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto first = accept_origin();
  receive_until(*first, "\r\n\r\n");
  first->send(std::string(kOk) + "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\npoison!");
  const std::string response = receive_until(*client, "ok");
  EXPECT_THAT(response, Not(HasSubstr("poison")));
  client->send(kGet);
  auto second = accept_origin();
  receive_until(*second, "\r\n\r\n");
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), Not(HasSubstr("poison")));
}

TEST_F(ExchangeTest, NeverReusesAConnectionThatEndedTogetherWithItsResponse) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto first = accept_origin();
  receive_until(*first, "\r\n\r\n");
  // Both are there before the worker looks: one event tells of both, and no other follows.
  first->send(kOk);
  first->shutdown_write();
  first->wait_until_delivered();
  receive_until(*client, "ok");
  client->send(kGet);
  auto second = accept_origin();
  receive_until(*second, "\r\n\r\n");
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExchangeTest, DeliversAnEarlyResponseWhileTheRequestBodyStillFlows) {
  start();
  auto client = connect_client();
  client->send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  auto origin = accept_origin();
  receive_until(*origin, "12345");
  origin->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
  client->send("67890");
  EXPECT_EQ(receive_until(*origin, "67890"), "67890");
  exchange(*client, *origin, kGet, kOk);  // Both connections are good for more.
  EXPECT_FALSE(origin_has_connection());
}

TEST_F(ExchangeTest, StopsReadingFromTheOriginWhileTheClientDoesNotRead) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
  const std::string block(64 * 1024, 'x');
  std::size_t sent = 0;
  for (int stalled = 0; stalled < 20;) {
    const std::size_t taken = origin->send_some(block);
    stalled = taken == 0 ? stalled + 1 : 0;
    sent += taken;
    pump();
    ASSERT_LT(sent, 100'000'000U) << "nothing ever stopped the origin";
  }
  // What the proxy itself holds: the backlog mark, one turn's reads, and the chunks' slack.
  EXPECT_LT(worker().chunks().live() * 16 * 1024, 2 * (kBacklogHigh + 256 * 1024));
  std::size_t received = 0;
  pump_until([&] {
    received += client->receive().size();
    return received >= sent;
  });
}

TEST_F(ExchangeTest, CancelsTheOriginWhenTheClientResets) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  client->reset();
  pump_until([&] {
    (void)origin->receive();
    return origin->ended() || origin->was_reset();
  });
  EXPECT_EQ(worker().chunks().live(), 0U);
}

TEST_F(ExchangeTest, TunnelsBothWaysAfterASwitchOfProtocols) {
  start();
  auto client = connect_client();
  client->send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nearly");
  auto origin = accept_origin();
  EXPECT_THAT(receive_until(*origin, "\r\n\r\n"), HasSubstr("Upgrade: echo\r\n"));
  origin->send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhi");
  EXPECT_THAT(receive_until(*client, "hi"), HasSubstr("Upgrade: echo\r\n"));
  EXPECT_EQ(receive_until(*origin, "early"), "early");
  client->send("ping");
  EXPECT_EQ(receive_until(*origin, "ping"), "ping");
  client->shutdown_write();
  pump_until([&] {
    (void)origin->receive();
    return origin->ended();
  });
  origin->send("last words");
  EXPECT_EQ(receive_until(*client, "last words"), "last words");
  origin->close();
  pump_until([&] {
    (void)client->receive();
    return client->ended();
  });
}

TEST_F(ExchangeTest, PassesTheResetOfATunnelOn) {
  start();
  auto client = connect_client();
  client->send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhi");
  receive_until(*client, "hi");
  origin->reset();
  pump_until([&] {
    (void)client->receive();
    return client->ended() || client->was_reset();
  });
  EXPECT_TRUE(client->was_reset() && !client->ended());
}

TEST_F(ExchangeTest, RefusesASwitchOfProtocolsThatNobodyAskedFor) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
  EXPECT_THAT(receive_until(*client, "origin 127.0.0.1"), StartsWith("HTTP/1.1 502 "));
}

TEST_F(ExchangeTest, AnswersPipelinedRequestsInOrder) {
  start();
  auto client = connect_client();
  client->send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  auto origin = accept_origin();
  EXPECT_THAT(receive_until(*origin, "\r\n\r\n"), StartsWith("GET /1 "));
  origin->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
  EXPECT_THAT(receive_until(*origin, "\r\n\r\n"), StartsWith("GET /2 "));
  origin->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
  const std::string all = receive_until(*client, "two");
  EXPECT_LT(all.find("one"), all.find("two"));
}

TEST_F(ExchangeTest, AnswersEveryRequestOfAClientThatHasHalfClosed) {
  start();
  auto client = connect_client();
  client->send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  client->shutdown_write();
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
  EXPECT_THAT(receive_until(*client, "two"), HasSubstr("two"));
  pump_until([&] {
    (void)client->receive();
    return client->ended();
  });
}

TEST_F(ExchangeTest, Answers404WithoutARouteAndKeepsTheConnection) {
  start();
  auto client = connect_client();
  client->send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(receive_until(*client, "no route matches this host and path\n"),
              StartsWith("HTTP/1.1 404 Not Found\r\n"));
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
}

TEST_F(ExchangeTest, TriesTheNextEndpointWhenOneRefuses) {
  // Bound, so that nobody else gets the port, and nobody listens there.
  const net::SocketAddress any_port = *net::SocketAddress::parse("127.0.0.1", 0);
  const net::FileDescriptor closed(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(closed.get(), any_port.get(), any_port.length()), 0);
  add_endpoint();
  options().endpoints[0].port = net::local_address_of(closed.get()).port();
  start();
  auto client = connect_client();
  client->send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  auto origin = accept_origin(1);
  EXPECT_THAT(receive_until(*origin, "hello"), StartsWith("POST /x "));
}

TEST_F(ExchangeTest, TriesTheNextEndpointWhenOneClosesWithoutAnAnswer) {
  add_endpoint();
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->close();
  auto next = accept_origin(1);
  receive_until(*next, "\r\n\r\n");
  next->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(verdicts(), ::testing::Contains(Verdict{.endpoint = 0, .outcome = Outcome::failed}));
}

TEST_F(ExchangeTest, SaysWhereAnOriginCouldNotBeReached) {
  options().endpoints[0].port = 1;  // Reserved (tcpmux): nobody listens there.
  start();
  auto client = connect_client();
  client->send(kGet);
  const std::string answer = receive_until(*client, "origin 127.0.0.1:1");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 502 Bad Gateway\r\n"));
  EXPECT_THAT(answer, HasSubstr("Proxy-Status: titanium; error=connection_refused"));
}

TEST_F(ExchangeTest, CutsAResponseShortInAWayThatTheClientNotices) {
  start();
  auto client = connect_client();
  client->send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  receive_until(*client, "hello");  // Close-delimited, for this client knows no chunks.
  origin->close();
  pump_until([&] {
    (void)client->receive();
    return client->ended() || client->was_reset();
  });
  EXPECT_TRUE(client->was_reset()) << "a FIN would make the cut body look complete";
}

TEST_F(ExchangeTest, LosesNoByteOfABodyThatArrivesWhileItsRequestIsSentAgain) {
  start();
  auto client = connect_client();
  auto first = first_exchange(*client);
  client->send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
  receive_until(*first, "hello");
  first->close();
  client->send("world");
  auto second = accept_origin();
  EXPECT_THAT(receive_until(*second, "world"), HasSubstr("helloworld"));
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExchangeTest, NeverTakesBytesThatCameBeforeTheRequestForItsAnswer) {
  start();
  auto client = connect_client();
  auto first = first_exchange(*client);
  // Both wait for the worker's next turn, the request in front: the connection is given to the
  // request, and the event of the stray bytes follows.
  client->send(kGet);
  client->wait_until_delivered();
  first->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
  first->wait_until_delivered();
  auto second = accept_origin();
  receive_until(*second, "\r\n\r\n");
  second->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), Not(HasSubstr("evil")));
}

TEST_F(ExchangeTest, RefusesASwitchOfProtocolsBeforeTheRequestIsComplete) {
  start();
  auto client = connect_client();
  client->send(
      "POST /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n"
      "Content-Length: 10\r\n\r\nabcde");
  auto origin = accept_origin();
  receive_until(*origin, "abcde");
  origin->send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
  EXPECT_THAT(receive_until(*client, "origin 127.0.0.1"), StartsWith("HTTP/1.1 502 "));
}

TEST_F(ExchangeTest, PassesAHalfCloseOnThatCameBeforeTheSwitchOfProtocols) {
  start();
  auto client = connect_client();
  client->send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
  client->shutdown_write();
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nbye");
  EXPECT_THAT(receive_until(*client, "bye"), HasSubstr("bye"));
  pump_until([&] {
    (void)origin->receive();
    return origin->ended();
  });
}

TEST_F(ExchangeTest, AnswersAllPipelinedRequestsOfALateReader) {
  start();
  auto client = connect_client();
  std::string requests;
  constexpr std::size_t kRequests = 4000;
  for (std::size_t i = 0; i < kRequests; ++i) {
    requests += "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  std::size_t sent = 0;
  for (int stalled = 0; stalled < 20 && sent < requests.size();) {
    const std::size_t taken = client->send_some(std::string_view(requests).substr(sent));
    stalled = taken == 0 ? stalled + 1 : 0;
    sent += taken;
    pump();
  }
  std::string answers;
  std::size_t count = 0;
  pump_until([&] {
    sent += client->send_some(std::string_view(requests).substr(sent));
    answers += client->receive();
    for (std::size_t at = 0; (at = answers.find("HTTP/1.1 404", at)) != std::string::npos; ++at) {
      ++count;
    }
    answers.erase(0, answers.size() - std::min<std::size_t>(answers.size(), 11));
    return count == kRequests;
  });
}

TEST_F(ExchangeTest, EndsTheConnectionAfterAFinalAnswerToAnExpectation) {
  start();
  auto client = connect_client();
  client->send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  origin->send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_THAT(receive_until(*client, "ok"), HasSubstr("Connection: close\r\n"));
  pump_until([&] {
    (void)client->receive();
    return client->ended();
  });
}

TEST_F(ExchangeTest, NoticesThatAHalfClosedClientIsGone) {
  start();
  auto client = connect_client();
  client->send(kGet);
  client->shutdown_write();
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  client->reset();
  pump_until([&] {
    (void)origin->receive();
    return origin->ended() || origin->was_reset();
  });
}

TEST_F(ExchangeTest, DrainsAClientThatHasNotReadItsAnswerYet) {
  start();
  auto client = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  const std::string body(8'000'000, 'x');
  std::string rest =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::size_t received = 0;
  while (!rest.empty()) {
    rest.erase(0, origin->send_some(rest));
    if (rest.size() > 200'000) received += client->receive().size();
    pump();
  }
  worker().drain();
  pump_until([&] {
    received += client->receive().size();
    return client->ended();
  });
  EXPECT_GT(received, body.size());
}

TEST_F(ExchangeTest, DrainsByFinishingWhatIsInFlight) {
  start();
  auto client = connect_client();
  auto idle = connect_client();
  client->send(kGet);
  auto origin = accept_origin();
  receive_until(*origin, "\r\n\r\n");
  worker().drain();
  pump_until([&] {
    (void)idle->receive();
    return idle->ended();
  });
  origin->send(kOk);
  EXPECT_THAT(receive_until(*client, "ok"), HasSubstr("Connection: close\r\n"));
}

}  // namespace
}  // namespace titanium::proxy::testing
