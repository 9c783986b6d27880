// SPDX-License-Identifier: MIT
#include "cli/demo/websocket_echo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/websocket_handshake.h"

namespace titanium::cli::demo {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr std::string_view kMask = "\x12\x34\x56\x78"sv;

// A frame as a client sends it. `first` is FIN, RSV and opcode.
[[nodiscard]] std::string client_frame(unsigned first, std::string_view payload) {
  std::string frame(1, static_cast<char>(first));
  if (payload.size() <= 125) {
    frame += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() <= 0xffff) {
    frame += '\xfe';
    frame += static_cast<char>(payload.size() >> 8);
    frame += static_cast<char>(payload.size() & 0xff);
  } else {
    frame += '\xff';
    for (int shift = 56; shift >= 0; shift -= 8) {
      frame += static_cast<char>((std::uint64_t{payload.size()} >> shift) & 0xff);
    }
  }
  frame += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    frame += static_cast<char>(payload[i] ^ kMask[i % 4]);
  }
  return frame;
}

[[nodiscard]] std::string close_frame(unsigned code) {
  std::string frame = "\x88\x02";
  frame += static_cast<char>(code >> 8);
  frame += static_cast<char>(code & 0xff);
  return frame;
}

struct Reaction {
  std::string out;
  bool open = true;
};
[[nodiscard]] Reaction feed(std::string_view in) {
  WebSocketEcho echo;
  Reaction reaction;
  reaction.open = echo.feed(in, reaction.out);
  return reaction;
}

TEST(WebSocketAcceptValue, IsThatOfTheExampleInTheRfc) {
  // RFC 6455 §1.3.
  EXPECT_EQ(proxy::websocket_accept_value("dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketEcho, SendsMessagesBackUnmasked) {
  EXPECT_EQ(feed(client_frame(0x81, "hello")).out, "\x81\x05hello");
  EXPECT_EQ(feed(client_frame(0x82, "")).out, "\x82\x00"sv);
}

TEST(WebSocketEcho, UsesTheShortestFormOfEachLength) {
  const std::string medium(126, 'm');
  EXPECT_EQ(feed(client_frame(0x82, medium)).out, "\x82\x7e\x00\x7e"s + medium);
  const std::string large(0x1'0000, 'l');
  EXPECT_EQ(feed(client_frame(0x82, large)).out,
            std::string("\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"sv) + large);
}

TEST(WebSocketEcho, KeepsFragmentsAndLetsControlFramesBetweenThem) {
  const std::string in =
      client_frame(0x01, "ab") + client_frame(0x89, "p") + client_frame(0x80, "cd");
  const Reaction reaction = feed(in);
  EXPECT_EQ(reaction.out,
            "\x01\x02"
            "ab\x8a\x01p\x80\x02"
            "cd");
  EXPECT_TRUE(reaction.open);
}

TEST(WebSocketEcho, IgnoresPongs) { EXPECT_EQ(feed(client_frame(0x8a, "x")).out, ""); }

TEST(WebSocketEcho, AnswersACloseWithItsCodeAndEnds) {
  const Reaction with_code = feed(client_frame(0x88, "\x03\xe8 bye"sv));
  EXPECT_EQ(with_code.out, close_frame(1000));
  EXPECT_FALSE(with_code.open);
  const Reaction without = feed(client_frame(0x88, ""));
  EXPECT_EQ(without.out, "\x88\x00"sv);
  EXPECT_FALSE(without.open);
}

TEST(WebSocketEcho, IgnoresWhatFollowsAClose) {
  EXPECT_EQ(feed(client_frame(0x88, "") + client_frame(0x81, "x")).out, "\x88\x00"sv);
}

TEST(WebSocketEcho, GivesTheSameAnswerWhereverTheInputIsCut) {
  const std::string in = client_frame(0x01, "ab") + client_frame(0x89, "ping") +
                         client_frame(0x80, std::string(300, 'x')) +
                         client_frame(0x88, "\x03\xe8"sv);
  const Reaction whole = feed(in);
  for (std::size_t cut = 0; cut <= in.size(); ++cut) {
    WebSocketEcho echo;
    std::string out;
    echo.feed(std::string_view(in).substr(0, cut), out);
    const bool open = echo.feed(std::string_view(in).substr(cut), out);
    ASSERT_EQ(out, whole.out) << "cut at " << cut;
    ASSERT_EQ(open, whole.open) << "cut at " << cut;
  }
}

struct Mistake {
  std::string_view name;
  std::string frame;
  unsigned code;
};

TEST(WebSocketEcho, ClosesWithTheCodeThatNamesTheMistake) {
  const Mistake cases[] = {
      {"not masked", "\x81\x01x", 1002},
      {"reserved bit", client_frame(0xc1, "x"), 1002},
      {"unknown data opcode", client_frame(0x83, "x"), 1002},
      {"unknown control opcode", client_frame(0x8b, "x"), 1002},
      {"continuation of nothing", client_frame(0x80, "x"), 1002},
      {"message within a message", client_frame(0x01, "") + client_frame(0x81, ""), 1002},
      {"fragmented ping", client_frame(0x09, ""), 1002},
      {"long ping", client_frame(0x89, std::string(126, 'x')), 1002},
      {"length of 16 bits for 1 byte", "\x81\xfe\x00\x01"s + std::string(kMask) + "x", 1002},
      {"length of 64 bits for 126 bytes",
       std::string("\x81\xff\x00\x00\x00\x00\x00\x00\x00\x7e"sv) + std::string(kMask), 1002},
      {"close with half a code", client_frame(0x88, "\x03"), 1002},
      {"close with a code that is never sent", client_frame(0x88, "\x03\xed"sv), 1002},
      {"close with a code of nobody", client_frame(0x88, "\x00\x01"sv), 1002},
      {"frame over the limit",
       std::string("\x82\xff\x00\x00\x00\x00\x00\x10\x00\x01"sv) + std::string(kMask), 1009},
      {"frame of 2^63 bytes",
       std::string("\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00"sv) + std::string(kMask), 1009},
  };
  for (const Mistake& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const Reaction reaction = feed(c.frame);
    EXPECT_FALSE(reaction.open);
    EXPECT_TRUE(reaction.out.ends_with(close_frame(c.code)));
  }
}

}  // namespace
}  // namespace titanium::cli::demo
