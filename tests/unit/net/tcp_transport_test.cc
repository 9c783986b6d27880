// SPDX-License-Identifier: MIT
#include "net/tcp_transport.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "unit/net/failing_calls.h"
#include "unit/net/support.h"

namespace titanium::net {
namespace {

using testing::run_idle;
using testing::run_until;
using testing::TcpPair;
using Status = ReadResult::Status;

struct Handler final : TransportHandler {
  void on_readable() override {
    ++readable;
    if (on_read) on_read();
  }
  void on_writable() override {
    ++writable;
    if (on_write) on_write();
  }
  int readable = 0;
  int writable = 0;
  std::function<void()> on_read;
  std::function<void()> on_write;
};

struct Received {
  std::string bytes;
  Status last = Status::would_block;
  Error error{};
};

// Reads in pieces of `piece` until something other than bytes comes.
void read_all(Transport& transport, Received& into, std::size_t piece) {
  std::vector<std::uint8_t> buffer(piece);
  for (;;) {
    const ReadResult result = transport.read(buffer);
    into.last = result.status;
    into.error = result.error;
    if (result.status != Status::bytes) return;
    ASSERT_GT(result.bytes, 0U);
    ASSERT_LE(result.bytes, piece);
    into.bytes.append(reinterpret_cast<const char*>(buffer.data()), result.bytes);
  }
}

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i * 7 + i / 977) % 26);
  return text;
}

class TcpTransportTest : public ::testing::Test {
 protected:
  void open(int send_buffer = 0, int their_receive_buffer = 0) {
    pair.emplace(their_receive_buffer);
    fd = pair->ours.get();
    if (send_buffer > 0) {
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    }
    transport = make_tcp_transport(loop, std::move(pair->ours), peer, {});
    transport->set_handler(&handler);
  }
  // Reads whenever told to, in pieces of this size.
  void read_when_told(std::size_t piece) {
    handler.on_read = [this, piece] { read_all(*transport, received, piece); };
  }

  EventLoop loop;
  ChunkPool pool;
  Handler handler;
  Received received;
  SocketAddress peer = testing::loopback(1);
  std::optional<TcpPair> pair;
  int fd = -1;
  std::unique_ptr<Transport> transport;
};

TEST_F(TcpTransportTest, ReadsBytesThenTheEndWhateverTheBufferSize) {
  const std::string text = pattern(10'000);
  for (const std::size_t piece : {1U, 7U, 9'999U, 10'000U, 10'001U, 65'536U}) {
    SCOPED_TRACE(piece);
    received = {};
    open();
    read_when_told(piece);
    pair->send(text);
    ASSERT_TRUE(run_until(loop, [&] { return received.bytes.size() == text.size(); }));
    EXPECT_EQ(received.bytes, text);
    EXPECT_EQ(received.last, Status::would_block);
    pair->finish();
    ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::end; }));
    EXPECT_EQ(received.bytes, text);
  }
}

TEST_F(TcpTransportTest, FindsTheEndThatCameTogetherWithTheBytes) {
  // The end makes no event of its own then: a reader that stops after a short read misses it.
  for (const std::size_t piece : {3U, 5U, 100U}) {
    SCOPED_TRACE(piece);
    received = {};
    open();
    read_when_told(piece);
    pair->send("hello");
    pair->finish();
    ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::end; }));
    EXPECT_EQ(received.bytes, "hello");
    read_all(*transport, received, piece);
    EXPECT_EQ(received.last, Status::end) << "and says so again";
  }
}

TEST_F(TcpTransportTest, AnswersWouldBlockFromMemoryAfterAShortRead) {
  open();
  pair->send("one");
  ASSERT_TRUE(run_until(loop, [&] { return handler.readable > 0; }));
  read_all(*transport, received, 100);
  EXPECT_EQ(received.bytes, "one");
  // The bytes are in the socket, but the loop has not said so: a system call would find them.
  pair->send("two");
  std::array<std::uint8_t, 100> buffer;
  EXPECT_EQ(transport->read(buffer).status, Status::would_block);
  read_when_told(100);
  ASSERT_TRUE(run_until(loop, [&] { return received.bytes == "onetwo"; }));
}

TEST_F(TcpTransportTest, MayBeReadBeforeTheFirstEvent) {
  open();
  pair->send("early");
  read_all(*transport, received, 100);
  EXPECT_EQ(received.bytes, "early");
}

TEST_F(TcpTransportTest, ReportsAResetAndKeepsReportingIt) {
  open();
  read_when_told(100);
  pair->reset();
  ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::failed; }));
  EXPECT_EQ(received.error.code, Code::closed);
  EXPECT_EQ(received.error.native, ECONNRESET);
  // The kernel tells once; then recv(2) returns 0, which must not look like an orderly end.
  read_all(*transport, received, 100);
  EXPECT_EQ(received.last, Status::failed);
  ChunkQueue queue(pool);
  queue.append("x");
  const auto written = transport->write(queue);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, Code::closed);
}

TEST_F(TcpTransportTest, ReportsBytesThatCameBeforeAReset) {
  open();
  read_when_told(2);
  pair->send("hello");
  pair->reset();
  ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::failed; }));
  EXPECT_EQ(received.bytes, "hello");
}

TEST_F(TcpTransportTest, ReadsTheEarlyAnswerAfterAWriteFailed) {
  open();
  pair->send("413");
  pair->reset();
  ChunkQueue queue(pool);
  queue.append("body");
  const auto written = transport->write(queue);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, Code::closed);
  EXPECT_TRUE(written.error().native == EPIPE || written.error().native == ECONNRESET);
  read_all(*transport, received, 100);
  EXPECT_EQ(received.bytes, "413");
  EXPECT_EQ(received.last, Status::failed) << "not an orderly end";
}

TEST_F(TcpTransportTest, WritesEverythingThroughASmallSocketBuffer) {
  open(4096, 4096);
  const std::string text = pattern(1 << 20);
  ChunkQueue queue(pool);
  queue.append(text);
  bool failed = false;
  handler.on_write = [&] { failed |= !transport->write(queue); };
  std::string seen;
  std::thread reader([&] {
    while (seen.size() < text.size()) {
      const std::string piece = pair->receive(10'000);
      if (piece.empty()) return;
      seen += piece;
    }
  });
  ASSERT_TRUE(transport->write(queue).has_value());
  EXPECT_FALSE(queue.empty()) << "the socket took less than everything";
  EXPECT_TRUE(run_until(loop, [&] { return queue.empty() || failed; }));
  reader.join();
  EXPECT_FALSE(failed);
  EXPECT_TRUE(seen == text);
  EXPECT_GT(handler.writable, 0);
  const int before = handler.writable;
  run_idle(loop);
  EXPECT_EQ(handler.writable, before) << "nothing is left behind any more";
}

TEST_F(TcpTransportTest, DoesNothingWhileTheSocketIsFull) {
  open(4096, 4096);
  ChunkQueue queue(pool);
  queue.append(pattern(1 << 20));
  ASSERT_TRUE(transport->write(queue).has_value());
  const std::size_t left = queue.size();
  ASSERT_GT(left, 0U);
  // Room appears, but the loop has not said so yet: a system call would use it.
  for (std::size_t taken = 0; taken < 100'000;) {
    const std::size_t got = pair->receive().size();
    if (got == 0) break;
    taken += got;
    if (taken >= (std::size_t{1} << 20) - left) break;
  }
  ASSERT_TRUE(transport->write(queue).has_value());
  EXPECT_EQ(queue.size(), left);
  ASSERT_TRUE(run_until(loop, [&] { return handler.writable > 0; }));
  ASSERT_TRUE(transport->write(queue).has_value());
  EXPECT_LT(queue.size(), left);
}

TEST_F(TcpTransportTest, WritesMoreSlicesThanFitOneSystemCall) {
  open();
  std::string text;
  ChunkQueue queue(pool);
  for (int i = 0; i < 200; ++i) {
    const std::string piece = pattern(10 + static_cast<std::size_t>(i));
    ChunkRef chunk(pool.take());
    std::ranges::copy(piece, chunk->data());
    queue.push({.chunk = chunk, .begin = 0, .end = static_cast<std::uint32_t>(piece.size())});
    text += piece;
  }
  ASSERT_TRUE(transport->write(queue).has_value());
  EXPECT_TRUE(queue.empty());
  std::string seen;
  while (seen.size() < text.size()) {
    const std::string piece = pair->receive();
    ASSERT_FALSE(piece.empty());
    seen += piece;
  }
  EXPECT_EQ(seen, text);
}

TEST_F(TcpTransportTest, DoesNotCallOnWritableUnlessSomethingWasLeftBehind) {
  open();
  run_idle(loop);
  ChunkQueue queue(pool);
  queue.append("all of it");
  ASSERT_TRUE(transport->write(queue).has_value());
  ASSERT_TRUE(transport->write(queue).has_value()) << "nothing to write is no error";
  run_idle(loop);
  EXPECT_EQ(handler.writable, 0);
  EXPECT_EQ(transport->unsent_bytes(), 0U);
}

TEST_F(TcpTransportTest, ClosesEachDirectionByItself) {
  open();
  read_when_told(100);
  transport->shutdown_write();
  EXPECT_EQ(pair->receive(), "");
  EXPECT_EQ(errno, 0) << "an orderly end";
  pair->send("still talking");
  ASSERT_TRUE(run_until(loop, [&] { return received.bytes == "still talking"; }));
  EXPECT_EQ(received.last, Status::would_block);
  pair->finish();
  ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::end; }));
}

TEST_F(TcpTransportTest, StillWritesAfterThePeerEnded) {
  open();
  read_when_told(100);
  pair->finish();
  ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::end; }));
  ChunkQueue queue(pool);
  queue.append("answer");
  ASSERT_TRUE(transport->write(queue).has_value());
  EXPECT_EQ(pair->receive(), "answer");
}

TEST_F(TcpTransportTest, LetsAHandlerStopReadingForAWhile) {
  open();
  const std::string text = pattern(1000);
  pair->send(text);
  pair->finish();
  ASSERT_TRUE(run_until(loop, [&] { return handler.readable > 0; }));
  run_idle(loop);
  const int told = handler.readable;
  std::array<std::uint8_t, 10> buffer;
  ASSERT_EQ(transport->read(buffer).status, Status::bytes);
  run_idle(loop);
  EXPECT_EQ(handler.readable, told) << "no busy loop while nobody reads";
  read_all(*transport, received, 100);
  EXPECT_EQ(received.bytes, text.substr(10));
  EXPECT_EQ(received.last, Status::end);
}

TEST_F(TcpTransportTest, TellsALaterHandlerWhatHappenedBefore) {
  struct Case {
    std::string_view name;
    std::function<void(TcpPair&)> happens;
    std::string bytes;
    Status last;
  };
  const Case cases[] = {
      {"bytes", [](TcpPair& p) { p.send("hi"); }, "hi", Status::would_block},
      {"bytes and end",
       [](TcpPair& p) {
         p.send("hi");
         p.finish();
       },
       "hi", Status::end},
      {"end", [](TcpPair& p) { p.finish(); }, "", Status::end},
      {"reset", [](TcpPair& p) { p.reset(); }, "", Status::failed},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    received = {};
    open();
    transport->set_handler(nullptr);
    c.happens(*pair);
    run_idle(loop);
    const int before = handler.readable;
    read_when_told(100);
    transport->set_handler(&handler);
    EXPECT_EQ(handler.readable, before) << "later, not from within set_handler()";
    loop.run_once(Duration(0));
    EXPECT_EQ(handler.readable, before + 1);
    EXPECT_EQ(received.bytes, c.bytes);
    EXPECT_EQ(received.last, c.last);
  }
}

TEST_F(TcpTransportTest, TellsANewHandlerWhatTheFormerOneLeftUnread) {
  open();
  pair->send("unread");
  ASSERT_TRUE(run_until(loop, [&] { return handler.readable == 1; }));
  Handler next;
  transport->set_handler(&next);
  loop.run_once(Duration(0));
  EXPECT_EQ(next.readable, 1);
  EXPECT_EQ(handler.readable, 1);
}

TEST_F(TcpTransportTest, DoesNotBotherANewHandlerWhenAllWasRead) {
  open();
  read_when_told(100);
  pair->send("read");
  ASSERT_TRUE(run_until(loop, [&] { return received.bytes == "read"; }));
  Handler next;
  transport->set_handler(&next);
  run_idle(loop);
  EXPECT_EQ(next.readable, 0);
}

TEST_F(TcpTransportTest, TellsALaterHandlerThatItMayWriteAgain) {
  open(4096, 4096);
  ChunkQueue queue(pool);
  queue.append(pattern(1 << 20));
  ASSERT_TRUE(transport->write(queue).has_value());
  const std::size_t queued = (std::size_t{1} << 20) - queue.size();
  transport->set_handler(nullptr);
  for (std::size_t taken = 0; taken < queued;) {
    const std::size_t got = pair->receive().size();
    ASSERT_GT(got, 0U);
    taken += got;
  }
  run_idle(loop);
  EXPECT_EQ(handler.writable, 0);
  transport->set_handler(&handler);
  ASSERT_TRUE(run_until(loop, [&] { return handler.writable == 1; }));
}

TEST_F(TcpTransportTest, ResetsThePeerOnlyWhenAskedTo) {
  for (const bool abort : {false, true}) {
    SCOPED_TRACE(abort);
    open();
    run_idle(loop);
    if (abort) transport->abort_on_close();
    transport.reset();
    EXPECT_EQ(pair->receive(), "");
    EXPECT_EQ(errno, abort ? ECONNRESET : 0);
  }
}

TEST_F(TcpTransportTest, KnowsWhenAnIdleConnectionIsStale) {
  struct Case {
    std::string_view name;
    std::function<void(TcpPair&)> happens;
    bool stale;
  };
  const Case cases[] = {
      {"quiet", [](TcpPair&) {}, false},
      {"unexpected bytes", [](TcpPair& p) { p.send("HTTP/1.1 408"); }, true},
      {"end", [](TcpPair& p) { p.finish(); }, true},
      {"closed", [](TcpPair& p) { p.close(); }, true},
      {"reset", [](TcpPair& p) { p.reset(); }, true},
  };
  for (const auto& c : cases) {
    for (const bool loop_ran : {false, true}) {
      SCOPED_TRACE(::testing::Message() << c.name << (loop_ran ? ", reported" : ", unreported"));
      open();
      run_idle(loop);
      c.happens(*pair);
      if (loop_ran) run_idle(loop);
      EXPECT_EQ(transport->is_stale(), c.stale);
      if (c.stale) continue;
      pair->send("x");
      read_all(*transport, received, 10);
      EXPECT_EQ(transport->is_stale(), c.stale) << "consumes nothing, and may be asked again";
    }
  }
}

TEST_F(TcpTransportTest, IsDeadFromTheStartIfTheKernelTakesNoMoreWatches) {
  testing::failing_calls().epoll_ctl = ENOSPC;
  read_when_told(100);
  open();
  testing::failing_calls().epoll_ctl = 0;
  // Nothing would ever wake it, so its handler is told instead of left to hang.
  ASSERT_TRUE(run_until(loop, [&] { return received.last == Status::failed; }));
  EXPECT_EQ(received.error.native, ENOSPC);
  ChunkQueue queue(pool);
  queue.append("x");
  EXPECT_FALSE(transport->write(queue).has_value());
  EXPECT_TRUE(transport->is_stale());
}

TEST_F(TcpTransportTest, KnowsItsAddresses) {
  open();
  EXPECT_EQ(transport->peer_address(), peer);
  EXPECT_EQ(transport->local_address(), local_address_of(fd));
  EXPECT_EQ(transport->local_address().ip(), "127.0.0.1");
  EXPECT_EQ(transport->alpn(), "");
  EXPECT_FALSE(transport->is_encrypted());
}

TEST_F(TcpTransportTest, SetsOnlyTheOptionsThatAreWanted) {
  for (const bool on : {true, false}) {
    TcpPair fresh;
    const int socket = fresh.ours.get();
    const auto made =
        make_tcp_transport(loop, std::move(fresh.ours), peer, {.no_delay = on, .keep_alive = on});
    const auto option = [socket](int level, int name) {
      int value = 0;
      socklen_t length = sizeof value;
      ::getsockopt(socket, level, name, &value, &length);
      return value != 0;
    };
    EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), on);
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), on);
  }
}

TEST_F(TcpTransportTest, MayBeDestroyedLaterFromItsOwnCallback) {
  open();
  handler.on_read = [&] {
    transport->set_handler(nullptr);
    loop.destroy_later(std::move(transport));
  };
  pair->send("bytes");
  ASSERT_TRUE(run_until(loop, [&] { return handler.readable == 1; }));
  run_idle(loop);
  EXPECT_EQ(handler.readable, 1);
  EXPECT_EQ(pair->receive(), "");
}

}  // namespace
}  // namespace titanium::net
