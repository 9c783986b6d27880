// SPDX-License-Identifier: MIT
#include "control/message.h"

#include <algorithm>
#include <charconv>

namespace titanium::probe::control {
namespace {

constexpr char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

bool equals(std::string_view text, std::string_view lower_case) noexcept {
  return std::ranges::equal(text, lower_case, {}, lower);
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_length(std::string_view text, std::optional<std::uint64_t>& out) noexcept {
  std::uint64_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, length);
  if (error != std::errc{} || stop != end || out) return false;
  out = length;
  return true;
}

void read_connection(std::string_view list, Head& head) noexcept {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view option = trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    head.close |= equals(option, "close");
    head.keep_alive |= equals(option, "keep-alive");
    head.upgrade |= equals(option, "upgrade");
  }
}

enum class Field : std::uint8_t { pass, connection, drop, upgrade, bad };

Field read_field(std::string_view line, Head& head) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return Field::bad;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  switch (name.size()) {  // Nearly all names are told apart by their length.
    case 7:
      return equals(name, "upgrade") ? Field::upgrade : Field::pass;
    case 10:
      if (equals(name, "connection")) {
        read_connection(value, head);
        return Field::connection;
      }
      return equals(name, "keep-alive") ? Field::drop : Field::pass;
    case 14:
      if (!equals(name, "content-length")) return Field::pass;
      return parse_length(value, head.content_length) ? Field::pass : Field::bad;
    case 16:
      return equals(name, "proxy-connection") ? Field::drop : Field::pass;
    case 17:
      if (!equals(name, "transfer-encoding")) return Field::pass;
      head.chunked = equals(value, "chunked");
      return head.chunked ? Field::pass : Field::bad;
    default:
      return Field::pass;
  }
}

bool read_start_line(std::string_view line, bool is_response, Head& head) noexcept {
  if (!is_response) {
    head.is_head_request = line.starts_with("HEAD ");
    head.http10 = line.ends_with(" HTTP/1.0");
    return head.http10 || line.ends_with(" HTTP/1.1");
  }
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') return false;
  head.http10 = line[7] == '0';
  const auto [stop, error] = std::from_chars(line.data() + 9, line.data() + 12, head.status);
  return error == std::errc{} && stop == line.data() + 12 && head.status >= 100;
}

}  // namespace

HeadStatus parse_head(std::string_view input, bool is_response, Head& head, std::string& out) {
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return input.size() > kMaxHeadBytes ? HeadStatus::bad : HeadStatus::incomplete;
  }
  head = {};
  head.bytes = end + 4;
  std::string_view rest = input.substr(0, end + 2);
  const std::size_t first = rest.find("\r\n");
  if (!read_start_line(rest.substr(0, first), is_response, head)) return HeadStatus::bad;
  const std::size_t kept_from = out.size();
  out.append(rest.substr(0, first + 2));
  rest.remove_prefix(first + 2);
  std::string_view upgrade_line;
  while (!rest.empty()) {
    const std::size_t length = rest.find("\r\n");
    const std::string_view line = rest.substr(0, length + 2);
    switch (read_field(rest.substr(0, length), head)) {
      case Field::pass:
        out.append(line);
        break;
      case Field::upgrade:
        upgrade_line = line;
        break;
      case Field::connection:
      case Field::drop:
        break;
      case Field::bad:
        out.resize(kept_from);
        return HeadStatus::bad;
    }
    rest.remove_prefix(length + 2);
  }
  if (head.upgrade && !upgrade_line.empty()) {
    out.append(upgrade_line).append("Connection: upgrade\r\n");
  } else {
    head.upgrade = false;
  }
  return HeadStatus::complete;
}

void BodyScanner::start_sized(std::uint64_t bytes) noexcept {
  left_ = bytes;
  state_ = bytes == 0 ? State::done : State::sized;
}

void BodyScanner::start_request(const Head& head) noexcept {
  left_ = 0;
  has_digits_ = false;
  if (head.chunked) {
    state_ = State::chunk_size;
  } else {
    start_sized(head.content_length.value_or(0));
  }
}

// RFC 9112 §6.3
void BodyScanner::start_response(const Head& head, bool to_head_request) noexcept {
  left_ = 0;
  has_digits_ = false;
  if (to_head_request || head.status < 200 || head.status == 204 || head.status == 304) {
    state_ = State::done;
  } else if (head.chunked) {
    state_ = State::chunk_size;
  } else if (head.content_length) {
    start_sized(*head.content_length);
  } else {
    state_ = State::until_close;
  }
}

std::size_t BodyScanner::take_data(std::size_t available, State then) noexcept {
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(available, left_));
  left_ -= part;
  if (left_ == 0) state_ = then;
  return part;
}

std::size_t BodyScanner::take(std::string_view input) noexcept {
  std::size_t used = 0;
  while (used < input.size()) {
    switch (state_) {
      case State::done:
      case State::bad:
        return used;
      case State::until_close:
        return input.size();
      case State::sized:
        used += take_data(input.size() - used, State::done);
        break;
      case State::chunk_data:
        used += take_data(input.size() - used, State::chunk_size);
        break;
      default:
        take_letter(input[used++]);
    }
  }
  return used;
}

// The lines between the data, one letter at a time: they are a few bytes each.
void BodyScanner::take_letter(char letter) noexcept {
  constexpr std::uint64_t kMaxChunkBytes = std::uint64_t{1} << 40;
  if (state_ == State::chunk_size) {
    int digit = 0;
    const auto [stop, error] = std::from_chars(&letter, &letter + 1, digit, 16);
    if (error == std::errc{} && stop == &letter + 1) {
      left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
      has_digits_ = true;
      if (left_ > kMaxChunkBytes) state_ = State::bad;
      return;
    }
    state_ = has_digits_ ? State::chunk_extension : State::bad;
  }
  switch (state_) {
    case State::chunk_extension:
      if (letter != '\n') return;
      has_digits_ = false;
      state_ = left_ == 0 ? State::trailer_start : State::chunk_data;
      // The CRLF behind the data belongs to the chunk.
      if (left_ > 0) left_ += 2;
      return;
    case State::trailer_start:
      if (letter == '\n') {
        state_ = State::done;
      } else if (letter != '\r') {
        state_ = State::trailer_line;
      }
      return;
    case State::trailer_line:
      if (letter == '\n') state_ = State::trailer_start;
      return;
    default:
      return;
  }
}

}  // namespace titanium::probe::control
