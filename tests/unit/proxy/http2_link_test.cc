// SPDX-License-Identifier: MIT
#include "proxy/http2_link.h"

#include <gmock/gmock.h>
#include <poll.h>

#include "unit/proxy/http2_fixture.h"

namespace titanium::proxy::testing {
namespace {

namespace frames = http2::test;
using frames::kEnd;

class Http2LinkTest : public Http2ProxyTest {
 protected:
  static constexpr std::uint32_t kStreams = 32;

  // A client that reads nothing asks for heads until its limit of streams lets nothing through.
  void fill_the_output() {
    options().http2.concurrent_streams = kStreams;
    start(/*send_buffer=*/16 * 1024);
    client_ = connect_http2({}, /*receive_buffer=*/4096);
    ask();
    origin_ = accept_http2();
    for (int without = 0; without < 2 * static_cast<int>(kStreams) && asked_ < 5'000;) {
      ask();
      pump_once();
      without = answer_what_came() > 0 ? 0 : without + 1;
    }
  }
  void ask() { client_->send(frames::get(2 * asked_++ + 1)); }
  void pump_once() { worker().loop().run_once(net::Duration(0)); }
  // Each answer is complete, and has a head of 15 KB.
  std::size_t answer_what_came() {
    origin_->read();
    std::size_t count = 0;
    while (const std::string* line = origin_->take("HEADERS")) {
      const auto id = static_cast<std::uint32_t>(std::stoul(line->substr(8)));
      origin_->send(respond(id, "200", kEnd, {{"x-filler", std::string(15'000, '~')}}));
      ++count;
    }
    answered_ += count;
    return count;
  }

  std::unique_ptr<Http2Peer> client_;
  std::unique_ptr<Http2Peer> origin_;
  std::uint32_t asked_ = 0;
  std::size_t answered_ = 0;
};

// What the client's kernel does not take stays a stream, and the number of those has a limit.
TEST_F(Http2LinkTest, MakesNoHeadsForAPeerThatReadsNothing) {
  fill_the_output();
  EXPECT_LT(asked_, 5'000U) << "the limit of streams was never met";
  // The output itself, and the texts of each stream that waits.
  EXPECT_LT(worker().chunks().live() * 16 * 1024, 2U * 1024 * 1024);
}

TEST_F(Http2LinkTest, GivesAPeerThatReadsAtLastEverythingThatCameUpMeanwhile) {
  fill_the_output();
  std::size_t heads = 0;
  pump_until([&] {
    client_->read();
    while (client_->take("HEADERS") != nullptr) ++heads;
    return heads == answered_ + answer_what_came();
  });
}

// A peer that only ever sends is as dead as one that does nothing.
TEST_F(Http2LinkTest, GivesUpAPeerThatReadsNothingHoweverMuchThereIsToDo) {
  options().timeouts.idle = net::Duration(150);
  fill_the_output();
  auto next = net::Clock::now();
  pump_until([&] {
    if (net::Clock::now() >= next) {
      client_->socket().send_some(frames::window_update(0, 1));
      next += std::chrono::milliseconds(20);
    }
    pollfd socket{.fd = client_->socket().fd(), .events = POLLOUT, .revents = 0};
    return ::poll(&socket, 1, 0) == 1 && (socket.revents & (POLLERR | POLLHUP)) != 0;
  });
}

// Bytes that leave now and then are progress, although never everything is out.
TEST_F(Http2LinkTest, KeepsAPeerThatReadsSlowly) {
  options().timeouts.idle = net::Duration(150);
  fill_the_output();
  const auto until = net::Clock::now() + std::chrono::milliseconds(700);
  while (net::Clock::now() < until) {  // It is time that is tested.
    (void)client_->read_some(512);
    worker().loop().run_once(net::Duration(5));
  }
  ASSERT_GT(worker().chunks().live(), 0U) << "too fast for anything to wait";
  std::size_t heads = 0;
  pump_until([&] {
    client_->read();
    while (client_->take("HEADERS") != nullptr) ++heads;
    return heads == answered_ + answer_what_came() || client_->socket().was_reset();
  });
  EXPECT_FALSE(client_->socket().was_reset());
}

}  // namespace
}  // namespace titanium::proxy::testing
