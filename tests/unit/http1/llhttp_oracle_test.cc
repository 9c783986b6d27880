// SPDX-License-Identifier: MIT
#include "unit/http1/llhttp_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace titanium::http1 {
namespace {

using test::LlhttpOracle;
using test::read_request;
using test::Reading;

constexpr std::string_view kSeeds[] = {
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "GET /a/b?c=d&e=%20 HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nA:b\r\n\r\n",
    "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n"
    "3;a=b;c=\"d\"\r\nabc\r\nA\r\n0123456789\r\n000\r\nX: y\r\nZ:\r\n\r\nGET",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\nX-Empty:\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "PATCH /x HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "DELETE /x HTTP/1.1\r\nhost: h\r\nX-Folded: a\r\nContent-Length: 0\r\n\r\n",
    "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n\x16\x03\x01",
    "HEAD / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
};

constexpr std::string_view kPieces[] = {
    "\r",
    "\n",
    "\r\n",
    " ",
    "\t",
    ":",
    ",",
    ";",
    "0",
    "5",
    "f",
    "x",
    "\"",
    "=",
    "/",
    "%41",
    "%",
    "#",
    "\\",
    "\x0b",
    "\x7f",
    "\x80",
    "\xc2\xa0",
    "{",
    "_",
    "chunked",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: x\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Connection: upgrade\r\n",
    "Upgrade: a\r\n",
    "Host: h\r\n",
    "A: b\r\n",
    " a\r\n",
    "\r\n\r\n",
    "1.0",
    "HTTP/1.1",
    ";a=b",
    ";a=\"b\\\"c\"",
    "0\r\n",
    "POST",
    "GET ",
};

// Changes valid requests in small steps: whole lines, pieces that matter to parsers, single bytes.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string text(kSeeds[below(std::size(kSeeds))]);
    for (std::size_t changes = below(4); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 1: {  // Where lines begin is where it hurts.
        const std::size_t line = text.find("\r\n", at);
        if (line != std::string::npos) {
          text.insert(line + 2, kPieces[below(std::size(kPieces))]);
        }
        break;
      }
      case 2:
        text.erase(at, 1 + below(3));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 0x20);
        break;
      default: {
        const std::string piece = text.substr(at, below(20));
        text.insert(below(text.size() + 1), piece);
        break;
      }
    }
  }

  std::mt19937 random_;
};

// Both read `text`; complains unless theirs is what ours is.
void expect_same_reading(const Reading& ours, const Reading& theirs) {
  EXPECT_TRUE(theirs.head_complete);
  EXPECT_EQ(ours.method, theirs.method);
  EXPECT_EQ(ours.target, theirs.target);
  EXPECT_EQ(ours.fields, theirs.fields);
  EXPECT_EQ(ours.chunked, theirs.chunked);
  EXPECT_EQ(ours.body, theirs.body);
  // A length of zero and a wish to keep the connection mean nothing for a tunnel; we forget both.
  if (ours.method != "CONNECT") {
    EXPECT_EQ(ours.content_length, theirs.content_length);
    // For HTTP/1.0 with both `close` and `keep-alive`, llhttp keeps the connection. We do not.
    EXPECT_TRUE(ours.keep_alive == theirs.keep_alive ||
                (!ours.keep_alive && test::names_close(ours)));
  }
  EXPECT_EQ(ours.message_complete, theirs.message_complete);
}

TEST(Llhttp, ReadsEverythingThatWeAcceptInTheSameWay) {
  Mutator mutator(20'260'101);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int i = 0; i < 40'000; ++i) {
    const std::string text = mutator.next();
    const Reading ours = read_request(text);
    // We look at a line or trailer section once it is complete, llhttp at each byte; so only whole
    // messages can be compared.
    if (!ours.message_complete) {
      refused += ours.error.empty() ? 0 : 1;
      continue;
    }
    ++accepted;
    const Reading theirs = LlhttpOracle::read(text, HTTP_REQUEST);
    if (test::is_known_difference(ours, theirs, text)) continue;
    SCOPED_TRACE(testing::PrintToString(text));
    EXPECT_EQ(theirs.error, "");
    expect_same_reading(ours, theirs);
    if (HasFailure()) break;  // One is enough to read.
  }
  // The test is worth nothing if the mutations are too wild or too tame.
  EXPECT_GT(accepted, 10'000u);
  EXPECT_GT(refused, 10'000u);
}

}  // namespace
}  // namespace titanium::http1
