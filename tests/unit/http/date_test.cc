// SPDX-License-Identifier: MIT
#include "http/date.h"

#include <gtest/gtest.h>

namespace titanium::http {
namespace {

std::string formatted(std::time_t seconds) {
  std::array<char, kDateBytes> text{};
  format_date(seconds, text);
  return {text.begin(), text.end()};
}

TEST(Date, IsWrittenAsImfFixdate) {
  EXPECT_EQ(formatted(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(formatted(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(formatted(951'782'399), "Mon, 28 Feb 2000 23:59:59 GMT");
  EXPECT_EQ(formatted(951'782'400), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(formatted(253'402'300'799), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(Date, StaysInFormForTimesOutOfRange) {
  EXPECT_EQ(formatted(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(formatted(253'402'300'800), "Fri, 31 Dec 9999 23:59:59 GMT");
}

constexpr std::time_t kNow = 1'767'225'600;  // 2026-01-01

TEST(Date, IsReadInAllThreeForms) {
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow), 784'111'777);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow), 784'111'777);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", kNow), 784'111'777);
  EXPECT_EQ(parse_date("Wed Nov 16 08:49:37 1994", kNow), 784'975'777);
  EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", kNow), 1'483'228'800);  // Leap second.
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784'111'777);
}

TEST(Date, TakesTwoDigitYearsForTheNearestCentury) {
  EXPECT_EQ(parse_date("Thursday, 01-Jan-26 00:00:00 GMT", kNow), kNow);
  EXPECT_EQ(parse_date("Wednesday, 01-Jan-76 00:00:00 GMT", kNow), 3'345'062'400);  // 2076
  EXPECT_EQ(parse_date("Saturday, 01-Jan-77 00:00:00 GMT", kNow), 220'924'800);     // 1977
}

TEST(Date, IsWhatItReads) {
  for (std::time_t seconds = 0; seconds < 5'000'000'000; seconds += 12'345'677) {
    EXPECT_EQ(parse_date(formatted(seconds), kNow), seconds);
  }
}

TEST(Date, IsRefusedInAnyOtherForm) {
  for (const std::string_view text :
       {"", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Xxx 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
        "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_date(text, kNow), std::nullopt) << text;
  }
}

TEST(DateCache, ChangesWithTheSecond) {
  DateCache cache;
  EXPECT_EQ(cache.at(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(cache.at(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(cache.at(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(cache.at(784'111'778), "Sun, 06 Nov 1994 08:49:38 GMT");
}

}  // namespace
}  // namespace titanium::http
