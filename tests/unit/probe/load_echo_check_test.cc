// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <string>

#include "load/echo_check.h"

namespace titanium::probe {
namespace {

using Status = EchoCheck::Status;
using ::testing::HasSubstr;
using namespace std::string_literals;

std::string frame(websocket::Opcode opcode, bool final, std::string_view payload) {
  std::string text;
  websocket::append_header(
      text, {.opcode = opcode, .final = final, .mask = {}, .payload_bytes = payload.size()});
  return text.append(payload);
}

std::string echo_of(std::size_t bytes) {
  return frame(websocket::Opcode::binary, true, pattern().substr(0, bytes));
}

// Feeds `text` in pieces, as a connection does: what is not used comes again.
Status feed(EchoCheck& check, std::string_view text, std::size_t piece) {
  std::string pending;
  while (!text.empty()) {
    pending.append(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    std::string_view rest = pending;
    const Status status = check.take(rest);
    if (status != Status::incomplete) return status;
    pending.erase(0, pending.size() - rest.size());
  }
  return Status::incomplete;
}

TEST(EchoCheck, TakesTheEchoInAnyPieces) {
  for (std::size_t piece = 1; piece < 80; ++piece) {
    EchoCheck check(64);
    check.expect();
    EXPECT_EQ(feed(check, echo_of(64), piece), Status::complete) << piece;
    check.expect();
    EXPECT_EQ(feed(check,
                   frame(websocket::Opcode::binary, false, pattern().substr(0, 10)) +
                       frame(websocket::Opcode::continuation, true, pattern().substr(10, 54)),
                   piece),
              Status::complete)
        << piece;
  }
}

TEST(EchoCheck, StopsBehindTheEcho) {
  EchoCheck check(4);
  check.expect();
  const std::string text = echo_of(4) + "more";
  std::string_view rest = text;
  EXPECT_EQ(check.take(rest), Status::complete);
  EXPECT_EQ(rest, "more");
}

TEST(EchoCheck, AnswersPings) {
  EchoCheck check(4);
  check.expect();
  EXPECT_EQ(feed(check, frame(websocket::Opcode::ping, true, "hi") + echo_of(4), 3),
            Status::complete);
  EXPECT_EQ(check.take_pongs(), "\x8a\x82\0\0\0\0hi"s);
  EXPECT_EQ(check.take_pongs(), "");
}

TEST(EchoCheck, SaysWhatIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {frame(websocket::Opcode::binary, true, "xxxx"), "wrong echo"},
      {echo_of(3), "only 3 bytes"},
      {echo_of(5), "wrong echo"},
      {"\x82\x84xxxxyyyy", "masked"},
      {"\xff\x04", "reserved"},
      {frame(websocket::Opcode::continuation, true, "x"), "nobody asked for"},
  };
  for (const auto& [text, problem] : cases) {
    EchoCheck check(4);
    check.expect();
    EXPECT_EQ(feed(check, text, 1000), Status::failed) << problem;
    EXPECT_THAT(check.problem(), HasSubstr(problem));
  }
  EchoCheck idle(4);
  EXPECT_EQ(feed(idle, echo_of(4), 1000), Status::failed);
  EchoCheck closed(4);
  EXPECT_EQ(feed(closed, frame(websocket::Opcode::close, true, ""), 1000), Status::closed);
}

}  // namespace
}  // namespace titanium::probe
