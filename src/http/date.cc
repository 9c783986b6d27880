// SPDX-License-Identifier: MIT
#include "http/date.h"

#include <algorithm>
#include <chrono>

#include "http/scan.h"

namespace titanium::http {
namespace {

namespace chr = std::chrono;

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr auto kLongDays = std::to_array<std::string_view>(
    {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"});

void put2(char* out, unsigned value) {
  out[0] = static_cast<char>('0' + value / 10 % 10);
  out[1] = static_cast<char>('0' + value % 10);
}

// Reads a date from left to right; after the first mismatch everything fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return ok_ && rest_.empty(); }

  void literal(std::string_view text) {
    ok_ = ok_ && rest_.starts_with(text);
    if (ok_) rest_.remove_prefix(text.size());
  }
  int number(std::size_t digits) {
    int value = 0;
    ok_ = ok_ && rest_.size() >= digits && std::ranges::all_of(rest_.substr(0, digits), is_digit);
    if (!ok_) return 0;
    for (std::size_t i = 0; i < digits; ++i) value = value * 10 + (rest_[i] - '0');
    rest_.remove_prefix(digits);
    return value;
  }
  // Day of the month in asctime(3) form: two characters, the first of which may be a blank.
  int blank_padded_number() {
    if (ok_ && rest_.starts_with(' ')) {
      rest_.remove_prefix(1);
      return number(1);
    }
    return number(2);
  }
  // Position of a three-letter name in `names`.
  int name(std::string_view names) {
    ok_ = ok_ && rest_.size() >= 3;
    for (std::size_t i = 0; ok_ && i < names.size(); i += 3) {
      if (rest_.substr(0, 3) != names.substr(i, 3)) continue;
      rest_.remove_prefix(3);
      return static_cast<int>(i / 3);
    }
    ok_ = false;
    return 0;
  }
  void long_day() {
    for (const std::string_view day : kLongDays) {
      if (rest_.starts_with(day)) return literal(day);
    }
    ok_ = false;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct Fields {
  int year = 0, month = 0, day = 0;  // The month counts from 0.
  int hour = 0, minute = 0, second = 0;
};

void read_time(Reader& in, Fields& date) {
  date.hour = in.number(2);
  in.literal(":");
  date.minute = in.number(2);
  in.literal(":");
  date.second = in.number(2);
}

bool read_imf_fixdate(std::string_view text, Fields& date) {
  Reader in(text);
  in.name(kDays);
  in.literal(", ");
  date.day = in.number(2);
  in.literal(" ");
  date.month = in.name(kMonths);
  in.literal(" ");
  date.year = in.number(4);
  in.literal(" ");
  read_time(in, date);
  in.literal(" GMT");
  return in.at_end();
}

bool read_rfc850(std::string_view text, Fields& date, std::time_t now) {
  Reader in(text);
  in.long_day();
  in.literal(", ");
  date.day = in.number(2);
  in.literal("-");
  date.month = in.name(kMonths);
  in.literal("-");
  date.year = in.number(2);
  in.literal(" ");
  read_time(in, date);
  in.literal(" GMT");
  if (!in.at_end()) return false;
  // RFC 9110 §5.6.7: what appears to be over 50 years ahead lies in the past.
  const chr::year_month_day today{chr::floor<chr::days>(chr::sys_seconds{chr::seconds{now}})};
  const int this_year = int{today.year()};
  date.year += this_year - this_year % 100;
  if (date.year > this_year + 50) date.year -= 100;
  return true;
}

bool read_asctime(std::string_view text, Fields& date) {
  Reader in(text);
  in.name(kDays);
  in.literal(" ");
  date.month = in.name(kMonths);
  in.literal(" ");
  date.day = in.blank_padded_number();
  in.literal(" ");
  read_time(in, date);
  in.literal(" ");
  date.year = in.number(4);
  return in.at_end();
}

std::optional<std::time_t> to_time(const Fields& date) {
  const chr::year_month_day day{chr::year{date.year},
                                chr::month{static_cast<unsigned>(date.month + 1)},
                                chr::day{static_cast<unsigned>(date.day)}};
  // Second 60 is a leap second.
  if (!day.ok() || date.hour > 23 || date.minute > 59 || date.second > 60) return std::nullopt;
  const auto time = chr::sys_days{day} + chr::hours{date.hour} + chr::minutes{date.minute} +
                    chr::seconds{date.second};
  return static_cast<std::time_t>(time.time_since_epoch().count());
}

}  // namespace

void format_date(std::time_t seconds, std::array<char, kDateBytes>& out) noexcept {
  // Four digits are all that the form has; nobody means the years outside.
  constexpr std::time_t kYear10000 = 253'402'300'800;
  seconds = std::clamp<std::time_t>(seconds, 0, kYear10000 - 1);
  const auto time = chr::sys_seconds{chr::seconds{seconds}};
  const auto midnight = chr::floor<chr::days>(time);
  const chr::year_month_day date{midnight};
  const auto in_day = static_cast<unsigned>((time - midnight).count());
  const auto year = static_cast<unsigned>(int{date.year()});

  constexpr std::string_view kShape = "Sun, 00 Jan 0000 00:00:00 GMT";
  static_assert(kShape.size() == kDateBytes);
  std::ranges::copy(kShape, out.begin());
  std::ranges::copy(kDays.substr(chr::weekday{midnight}.c_encoding() * 3, 3), out.begin());
  put2(&out[5], unsigned{date.day()});
  std::ranges::copy(kMonths.substr((unsigned{date.month()} - 1) * 3, 3), out.begin() + 8);
  put2(&out[12], year / 100);
  put2(&out[14], year);
  put2(&out[17], in_day / 3600);
  put2(&out[20], in_day / 60 % 60);
  put2(&out[23], in_day % 60);
}

std::optional<std::time_t> parse_date(std::string_view text, std::time_t now) noexcept {
  Fields date;
  if (read_imf_fixdate(text, date) || read_rfc850(text, date, now) || read_asctime(text, date)) {
    return to_time(date);
  }
  return std::nullopt;
}

std::optional<std::time_t> parse_date(std::string_view text) noexcept {
  return parse_date(text, std::time(nullptr));
}

std::string_view DateCache::at(std::time_t seconds) noexcept {
  if (seconds != cached_) {
    format_date(seconds, text_);
    cached_ = seconds;
  }
  return {text_.data(), text_.size()};
}

}  // namespace titanium::http
