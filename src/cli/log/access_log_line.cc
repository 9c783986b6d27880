// SPDX-License-Identifier: MIT
#include "cli/log/access_log_line.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "cli/log/json_text.h"

namespace titanium::cli {
namespace {

// url, and host, method, clientIp, origin, error; then keys, numbers and time.
static_assert(kMaxLoggedUrlBytes + 5 * kMaxLoggedTextBytes + 512 <= kMaxAccessLogLineBytes);

// Appends to a buffer that is known to be large enough for bounded parts.
class LineWriter {
 public:
  explicit LineWriter(std::span<char> out) noexcept : out_(out) {}

  void raw(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), out_.size() - size_);
    std::memcpy(out_.data() + size_, text.data(), bytes);
    size_ += bytes;
  }
  void number(std::uint64_t value) noexcept {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    raw({digits, static_cast<std::size_t>(end - digits)});
  }
  // Decimal digits of `value`, with zeros in front up to `width`.
  void padded(std::uint64_t value, unsigned width) noexcept {
    char digits[20];
    for (unsigned i = width; i > 0; --i, value /= 10) {
      digits[i - 1] = static_cast<char>('0' + value % 10);
    }
    raw({digits, width});
  }
  // Escaped, without quotes, and at most `room` bytes of it; `room` shrinks by what was written.
  void json(std::string_view text, std::size_t& room) noexcept {
    JsonScratch scratch;
    while (!text.empty()) {
      const std::string_view piece = next_json_piece(text, scratch);
      if (piece.size() > room) {
        if (!piece.starts_with('\\')) raw(utf8_prefix(piece, room));  // Escapes are not cut.
        room = 0;
        return;
      }
      raw(piece);
      room -= piece.size();
    }
  }
  void json_string(std::string_view text) noexcept {
    std::size_t room = kMaxLoggedTextBytes;
    raw("\"");
    json(text, room);
    raw("\"");
  }
  void json_string_or_null(std::string_view text) noexcept {
    if (text.empty()) {
      raw("null");
    } else {
      json_string(text);
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::span<char> out_;
  std::size_t size_ = 0;
};

// RFC 3339 in UTC with milliseconds: "2026-01-02T03:04:05.678Z".
void write_time(LineWriter& line, std::chrono::system_clock::time_point time) noexcept {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<milliseconds>(time - day)};
  line.padded(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  line.raw("-");
  line.padded(static_cast<unsigned>(date.month()), 2);
  line.raw("-");
  line.padded(static_cast<unsigned>(date.day()), 2);
  line.raw("T");
  line.padded(static_cast<std::uint64_t>(clock.hours().count()), 2);
  line.raw(":");
  line.padded(static_cast<std::uint64_t>(clock.minutes().count()), 2);
  line.raw(":");
  line.padded(static_cast<std::uint64_t>(clock.seconds().count()), 2);
  line.raw(".");
  line.padded(static_cast<std::uint64_t>(clock.subseconds().count()), 3);
  line.raw("Z");
}

// Scheme, authority and path. "*" and the target of a CONNECT stand for themselves.
void write_url(LineWriter& line, const proxy::ExchangeFinished& event) noexcept {
  std::size_t room = kMaxLoggedUrlBytes;
  line.raw("\"");
  if (event.path.starts_with('/')) {
    line.json(event.scheme, room);
    line.json("://", room);
    line.json(event.host, room);
  }
  line.json(event.path, room);
  line.raw("\"");
}

}  // namespace

std::size_t write_access_log_line(const proxy::ExchangeFinished& event,
                                  std::span<char, kMaxAccessLogLineBytes> out) noexcept {
  LineWriter line(out);
  line.raw("{\"ts\":\"");
  write_time(line, event.started);
  line.raw("\",\"method\":");
  line.json_string(event.method);
  line.raw(",\"url\":");
  write_url(line, event);
  line.raw(",\"host\":");
  line.json_string(event.host);
  line.raw(",\"status\":");
  line.number(event.status);
  const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(event.duration.count(), 0));
  line.raw(",\"durationMs\":");
  line.number(micros / 1000);
  line.raw(".");
  line.padded(micros % 1000, 3);
  line.raw(",\"clientIp\":");
  line.json_string(event.client_ip);
  line.raw(",\"requestBytes\":");
  line.number(event.request_body_bytes);
  line.raw(",\"responseBytes\":");
  line.number(event.response_body_bytes);
  line.raw(",\"origin\":");
  line.json_string_or_null(event.origin);
  line.raw(",\"error\":");
  line.json_string_or_null(event.error == nullptr ? std::string_view() : event.error->what);
  line.raw("}\n");
  return line.size();
}

}  // namespace titanium::cli
