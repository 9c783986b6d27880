// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "origin/answers.h"
#include "origin/content.h"

namespace titanium::probe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Answers, TheTinyOneIsComplete) {
  Answers answers;
  EXPECT_EQ(answers.tiny(false, 0),
            "HTTP/1.1 200 OK\r\nServer: probe-origin\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Content-Type: application/json\r\nContent-Length: 57\r\n\r\n" +
                std::string(kTinyJson));
  EXPECT_THAT(std::string(answers.tiny(true, 0)), HasSubstr("\r\nConnection: close\r\n\r\n{"));
}

TEST(Answers, TheDateFollowsTheClock) {
  Answers answers;
  EXPECT_THAT(std::string(answers.tiny(false, 59)), HasSubstr("00:00:59 GMT"));
  EXPECT_THAT(std::string(answers.tiny(false, 60)), HasSubstr("00:01:00 GMT"));
  EXPECT_THAT(std::string(answers.head({.length = 5}, 60)), HasSubstr("00:01:00 GMT"));
  EXPECT_THAT(std::string(answers.head({.length = 5}, 61)), HasSubstr("00:01:01 GMT"));
}

TEST(Answers, HeadsSayHowTheBodyEnds) {
  Answers answers;
  const std::string sized(answers.head({.json = false, .length = 12}, 0));
  EXPECT_THAT(sized, HasSubstr("Content-Type: text/plain\r\nContent-Length: 12\r\n\r\n"));
  const std::string chunked(answers.head({.json = false, .chunked = true}, 0));
  EXPECT_THAT(chunked, HasSubstr("Transfer-Encoding: chunked\r\n\r\n"));
  EXPECT_THAT(chunked, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(std::string(answers.head({.close = true, .length = 12}, 0)),
              HasSubstr("Connection: close"));
}

}  // namespace
}  // namespace titanium::probe
