// SPDX-License-Identifier: MIT
//
// The demo origin over real sockets, as a client sees it.
#include "cli/demo/demo_origin.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "net/file_descriptor.h"

namespace titanium::cli::demo {
namespace {

// A blocking client; each read gives up after a long time, which fails the test.
class Client {
 public:
  explicit Client(const net::SocketAddress& address)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::connect(socket_.get(), address.get(), address.length()), 0);
  }
  // False: the peer has closed.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }
  // One read; empty at the end of the stream.
  std::string receive_some() {
    pollfd entry{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 20'000) != 1) {
      ADD_FAILURE() << "the server is silent";
      return {};
    }
    std::string text(65536, '\0');
    const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  std::string receive_until(std::string_view end) {
    while (!received_.contains(end)) {
      const std::string more = receive_some();
      if (more.empty()) break;
      received_ += more;
    }
    const auto at = received_.find(end);
    const std::string text = received_.substr(0, at == std::string::npos ? at : at + end.size());
    received_.erase(0, text.size());
    return text;
  }
  std::string receive_bytes(std::size_t count) {
    while (received_.size() < count) {
      const std::string more = receive_some();
      if (more.empty()) break;
      received_ += more;
    }
    const std::string text = received_.substr(0, count);
    received_.erase(0, text.size());
    return text;
  }
  std::string receive_all() {
    for (std::string more = receive_some(); !more.empty(); more = receive_some()) received_ += more;
    return std::move(received_);
  }

 private:
  net::FileDescriptor socket_;
  std::string received_;
};

struct Response {
  std::string head;
  std::string body;
};

class DemoOriginTest : public testing::Test {
 protected:
  DemoOriginTest() {
    auto origin = DemoOrigin::start({});
    EXPECT_TRUE(origin.has_value());
    if (origin) origin_ = std::move(*origin);
  }

  [[nodiscard]] Client connect() const { return Client(origin_->address()); }

  // A request of its own connection; `request` without its empty line and Host.
  [[nodiscard]] Response ask(std::string request) const {
    Client client = connect();
    client.send(request + "\r\nHost: demo\r\nConnection: close\r\n\r\n");
    return split(client.receive_all());
  }
  [[nodiscard]] static Response split(const std::string& text) {
    const auto end = text.find("\r\n\r\n");
    if (end == std::string::npos) return {.head = text, .body = {}};
    return {.head = text.substr(0, end + 4), .body = text.substr(end + 4)};
  }

  std::unique_ptr<DemoOrigin> origin_;
};

TEST_F(DemoOriginTest, TellsWhatItOffers) {
  const Response response = ask("GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7, 10.0.0.1");
  EXPECT_TRUE(response.head.starts_with("HTTP/1.1 200 "));
  const auto json = nlohmann::json::parse(response.body);
  EXPECT_EQ(json["clientIp"], "192.0.2.7");
  EXPECT_EQ(json["protocol"], "HTTP/1.1");
  EXPECT_FALSE(json["endpoints"].empty());
}

TEST_F(DemoOriginTest, EchoesASizedBodyWithItsType) {
  Client client = connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/x\r\nContent-Length: 5\r\n\r\nhello");
  const std::string head = client.receive_until("\r\n\r\n");
  EXPECT_TRUE(head.contains("Content-Type: text/x\r\n"));
  EXPECT_TRUE(head.contains("Content-Length: 5\r\n"));
  EXPECT_EQ(client.receive_bytes(5), "hello");
}

TEST_F(DemoOriginTest, EchoesAChunkedBodyWhileItArrives) {
  Client client = connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_TRUE(client.receive_until("\r\n\r\n").contains("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(client.receive_until("abc\r\n"), "3\r\nabc\r\n");
  client.send("1\r\nz\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive_until("0\r\n\r\n"), "1\r\nz\r\n0\r\n\r\n");
}

TEST_F(DemoOriginTest, EchoesTheHeadOfARequestWithoutBody) {
  const Response response = ask("GET /echo HTTP/1.1\r\nX-Mark: here");
  EXPECT_TRUE(response.body.starts_with("GET /echo HTTP/1.1\r\n"));
  EXPECT_TRUE(response.body.contains("X-Mark: here\r\n"));
}

TEST_F(DemoOriginTest, HoldsBackTheSenderWhenTheEchoIsNotRead) {
  Client client = connect();
  constexpr std::size_t kBytes = 32 * 1024 * 1024;
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(kBytes) +
              "\r\nConnection: close\r\n\r\n");
  std::string sent(kBytes, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
  std::thread sender([&] { EXPECT_TRUE(client.send(sent)); });
  client.receive_until("\r\n\r\n");
  const std::string echoed = client.receive_bytes(kBytes);
  sender.join();
  EXPECT_TRUE(echoed == sent);
}

TEST_F(DemoOriginTest, SendsAsManyBytesAsAskedFor) {
  for (const std::size_t count : {0u, 1u, 63u, 64u, 65u, 8192u, 8193u, 1'000'000u}) {
    SCOPED_TRACE(count);
    const Response response = ask("GET /bytes/" + std::to_string(count) + " HTTP/1.1");
    EXPECT_TRUE(response.head.contains("Content-Length: " + std::to_string(count) + "\r\n"));
    ASSERT_EQ(response.body.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(response.body[i], i % 64 == 63 ? '\n' : static_cast<char>('!' + i % 64)) << i;
    }
  }
}

TEST_F(DemoOriginTest, AnswersHeadWithTheLengthAndNoBody) {
  const Response response = ask("HEAD /bytes/17179869184 HTTP/1.1");
  EXPECT_TRUE(response.head.contains("Content-Length: 17179869184\r\n"));
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(ask("HEAD /events HTTP/1.1").body, "");  // Endless for anybody else.
}

TEST_F(DemoOriginTest, ShowsTheFieldsOfARequest) {
  const Response response = ask("GET /headers HTTP/1.1\r\nX-A: 1\r\nX-B: q\"\r\nx-a: 2");
  const auto json = nlohmann::json::parse(response.body);
  EXPECT_EQ(json["headers"]["X-A"], "1, 2");
  EXPECT_EQ(json["headers"]["X-B"], "q\"");
  EXPECT_EQ(json["headers"]["Host"], "demo");
  EXPECT_FALSE(json["headers"].contains("x-a"));
}

TEST_F(DemoOriginTest, WaitsAsLongAsAskedFor) {
  const auto begin = std::chrono::steady_clock::now();
  const Response response = ask("GET /slow?ms=120 HTTP/1.1");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(120));
  EXPECT_EQ(nlohmann::json::parse(response.body)["waitedMs"], 120);
}

TEST_F(DemoOriginTest, SendsChunksAndATrailer) {
  for (const char* target : {"/chunked?n=3&ms=0", "/chunked?n=3&ms=5"}) {
    const Response response = ask(std::string("GET ") + target + " HTTP/1.1");
    EXPECT_EQ(response.body,
              "8\r\nchunk 1\n\r\n8\r\nchunk 2\n\r\n8\r\nchunk 3\n\r\n0\r\nX-Chunks: 3\r\n\r\n");
  }
}

TEST_F(DemoOriginTest, SendsManyChunksToASlowReaderWithoutCollectingThem) {
  Client client = connect();
  client.send("GET /chunked?n=300000&ms=0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = client.receive_all();
  EXPECT_TRUE(all.ends_with("0\r\nX-Chunks: 300000\r\n\r\n"));
}

TEST_F(DemoOriginTest, SendsEventsAtTheirPace) {
  const Response response = ask("GET /events?n=2&ms=1 HTTP/1.0\r\nAccept: text/event-stream");
  EXPECT_TRUE(response.head.contains("Content-Type: text/event-stream\r\n"));
  EXPECT_EQ(response.body, "id: 1\ndata: {\"event\": 1}\n\nid: 2\ndata: {\"event\": 2}\n\n");
}

TEST_F(DemoOriginTest, AnswersWithTheStatusThatWasAskedFor) {
  EXPECT_TRUE(ask("GET /status/418 HTTP/1.1").head.starts_with("HTTP/1.1 418 "));
  const Response empty = ask("GET /status/204 HTTP/1.1");
  EXPECT_TRUE(empty.head.starts_with("HTTP/1.1 204 "));
  EXPECT_EQ(empty.body, "");
}

TEST_F(DemoOriginTest, ExplainsWhatItCannotDo) {
  struct Case {
    const char* target;
    const char* status;
  };
  const Case cases[] = {{"/nothing", "404"},
                        {"/bytes/x", "400"},
                        {"/bytes/17179869185", "400"},
                        {"/bytes/-1", "400"},
                        {"/slow?ms=60001", "400"},
                        {"/slow?ms=", "400"},
                        {"/chunked?n=x", "400"},
                        {"/events?ms=99999", "400"},
                        {"/status/99", "400"},
                        {"/status/600", "400"},
                        {"/ws", "426"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.target);
    const Response response = ask(std::string("GET ") + c.target + " HTTP/1.1");
    EXPECT_EQ(response.head.substr(9, 3), c.status);
    EXPECT_TRUE(nlohmann::json::parse(response.body).contains("error"));
  }
}

TEST_F(DemoOriginTest, AnswersPipelinedRequestsInOrder) {
  Client client = connect();
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n";
    requests += std::to_string(1000 + i);
  }
  client.send(requests);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    ASSERT_EQ(client.receive_bytes(4), std::to_string(1000 + i));
  }
}

TEST_F(DemoOriginTest, GoesOnAfterABodyThatNobodyWanted) {
  Client client = connect();
  client.send("POST /status/200 HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  client.receive_until("\"reason\": \"OK\"}\n");
  client.send(std::string(100'000, 'x') + "GET /status/201 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 201 "));
}

TEST_F(DemoOriginTest, InvitesTheBodyOfAnExpectation) {
  Client client = connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(client.receive_bytes(2), "ok");
}

TEST_F(DemoOriginTest, AnswersAClientThatHasEndedItsSide) {
  Client client = connect();
  client.send("GET /slow?ms=30 HTTP/1.1\r\nHost: x\r\n\r\n");
  client.end_sending();
  EXPECT_TRUE(client.receive_all().ends_with("{\"waitedMs\": 30}\n"));
}

constexpr std::string_view kUpgrade =
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

TEST_F(DemoOriginTest, UpgradesToAWebSocketThatEchoes) {
  using namespace std::string_view_literals;
  Client client = connect();
  // The first frame travels with the request: nothing may get lost between the two protocols.
  client.send(std::string(kUpgrade) + std::string("\x81\x82\0\0\0\0hi"sv));
  const std::string head = client.receive_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101 "));
  EXPECT_TRUE(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_TRUE(head.contains("websocket\r\n"));
  EXPECT_EQ(client.receive_bytes(4), "\x81\x02hi");
  client.send("\x88\x80\0\0\0\0"sv);
  EXPECT_EQ(client.receive_all(), "\x88\x00"sv);
}

TEST_F(DemoOriginTest, RefusesAWebSocketWithABadKeyOrVersion) {
  std::string bad_key(kUpgrade);
  bad_key.replace(bad_key.find("dGhl"), 4, "****");
  Client first = connect();
  first.send(bad_key);
  EXPECT_TRUE(first.receive_until("\r\n\r\n").starts_with("HTTP/1.1 400 "));
  std::string bad_version(kUpgrade);
  bad_version.replace(bad_version.find("13"), 2, "12");
  Client second = connect();
  second.send(bad_version);
  EXPECT_TRUE(second.receive_until("\r\n\r\n").starts_with("HTTP/1.1 426 "));
}

TEST_F(DemoOriginTest, RefusesWhatIsNoHttpAndCloses) {
  Client client = connect();
  client.send("\x16\x03\x01\x02nonsense\r\n\r\n");
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 400 "));
}

TEST_F(DemoOriginTest, SurvivesGarbageAndClientsThatLeave) {
  std::minstd_rand random(7);
  const std::string seeds[] = {
      "GET /bytes/100000 HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "GET /events?ms=1 HTTP/1.1\r\nHost: x\r\n\r\n", std::string(kUpgrade)};
  for (int round = 0; round < 200; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    for (unsigned change = random() % 4; change > 0; --change) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    Client client = connect();
    client.send(text.substr(0, random() % (text.size() + 1)));
    // Some leave without a word, some after reading a little.
    if (round % 3 == 0) client.end_sending();
  }
  EXPECT_TRUE(ask("GET / HTTP/1.1").head.starts_with("HTTP/1.1 200 "));
}

TEST(DemoOrigin, EndsAtOnceWhateverIsUnderWay) {
  auto origin = DemoOrigin::start({});
  ASSERT_TRUE(origin.has_value());
  Client idle((*origin)->address());
  Client endless((*origin)->address());
  endless.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  endless.receive_until("data:");
  const auto begin = std::chrono::steady_clock::now();
  origin->reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace titanium::cli::demo
