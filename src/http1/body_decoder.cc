// SPDX-License-Identifier: MIT
#include "http1/body_decoder.h"

#include <algorithm>

#include "base/assert.h"
#include "base/try.h"
#include "http/scan.h"
#include "http1/chunk_extension.h"
#include "http1/field_line.h"
#include "http1/refuse.h"

namespace titanium::http1 {

void BodyDecoder::start(MessageFraming framing) {
  remaining_ = framing.bytes;
  extension_bytes_ = 0;
  trailer_scanner_.reset();
  switch (framing.framing) {
    case Framing::none:
      state_ = State::done;
      return;
    case Framing::fixed:
      state_ = framing.bytes == 0 ? State::done : State::fixed;
      return;
    case Framing::chunked:
      state_ = State::chunk_size;
      return;
    case Framing::until_close:
    case Framing::tunnel:
      state_ = State::until_close;
      return;
  }
}

Result<BodyDecoder::Step> BodyDecoder::next(std::string_view input, http::FieldList& trailers) {
  switch (state_) {
    case State::done:
      return Step{.done = true};
    case State::fixed: {
      const std::size_t data = take_data(input.size(), State::done);
      return Step{.data = data, .done = done()};
    }
    case State::until_close:
      return Step{.data = input.size()};
    default:
      return next_chunked(input, trailers);
  }
}

// Goes through the states in the order in which they follow each other, as far as the input
// reaches, and stops behind the first data: a step cannot say more.
Result<BodyDecoder::Step> BodyDecoder::next_chunked(std::string_view input,
                                                    http::FieldList& trailers) {
  Step step;
  if (state_ == State::chunk_end) {
    TI_TRY_ASSIGN(step.overhead, take_chunk_end(input));
  }
  if (state_ == State::chunk_size) {
    TI_TRY_ASSIGN(const std::size_t line, take_chunk_line(input.substr(step.overhead)));
    step.overhead += line;
  }
  if (state_ == State::chunk_data) {
    step.data = take_data(input.size() - step.overhead, State::chunk_end);
  } else if (state_ == State::trailers) {
    TI_TRY_ASSIGN(const std::size_t section, take_trailers(input.substr(step.overhead), trailers));
    step.overhead += section;
    step.done = done();
  }
  return step;
}

std::size_t BodyDecoder::take_data(std::size_t available, State then) noexcept {
  const auto data = static_cast<std::size_t>(std::min<std::uint64_t>(available, remaining_));
  remaining_ -= data;
  if (remaining_ == 0) state_ = then;
  return data;
}

Result<std::size_t> BodyDecoder::take_chunk_end(std::string_view input) {
  constexpr std::string_view kEnd = "\r\n";
  const std::string_view seen = input.substr(0, kEnd.size());
  if (!kEnd.starts_with(seen)) return refuse("chunk is longer than its size", peer_);
  if (seen.size() < kEnd.size()) return 0;
  state_ = State::chunk_size;
  return kEnd.size();
}

Result<std::size_t> BodyDecoder::take_chunk_line(std::string_view input) {
  const char* const end =
      input.data() + std::min<std::size_t>(input.size(), limits_.chunk_line_bytes);
  const char* const stop = http::find_control(input.data(), end);
  if (end - stop < 2) {  // Even the CRLF has to be within the limit.
    if (stop != end && *stop != '\r') return refuse("control byte in a chunk line", peer_);
    if (input.size() >= limits_.chunk_line_bytes) {
      return over_limit("chunk line is too long", peer_, 400);
    }
    return 0;
  }
  // RFC 9112 §2.2 lets a recipient take LF alone for a line end, in heads. In chunks it has served
  // for smuggling, and no sender needs it.
  if (stop[0] != '\r' || stop[1] != '\n') return refuse("control byte in a chunk line", peer_);
  const auto length = static_cast<std::size_t>(stop - input.data());
  TI_TRY(parse_chunk_line(input.substr(0, length)));
  return length + 2;
}

Result<> BodyDecoder::parse_chunk_line(std::string_view line) {
  constexpr std::size_t kMaxDigits = 16;  // 64 bits; bounds leading zeros, too.
  std::size_t digits = 0;
  std::uint64_t size = 0;
  for (; digits < line.size() && http::hex_value(line[digits]) >= 0; ++digits) {
    if (digits == kMaxDigits) return refuse("chunk size has too many digits", peer_);
    size = size << 4 | static_cast<std::uint64_t>(http::hex_value(line[digits]));
  }
  if (digits == 0) return refuse("chunk size is not a number", peer_);
  const std::string_view extension = line.substr(digits);
  if (!is_chunk_extension(extension)) return refuse("malformed chunk extension", peer_);
  extension_bytes_ += static_cast<std::uint32_t>(extension.size());
  if (extension_bytes_ > limits_.chunk_extension_bytes) {
    return over_limit("too many chunk extensions", peer_, 400);
  }
  if (size > limits_.chunk_bytes) return over_limit("chunk is too large", peer_, 413);
  remaining_ = size;
  state_ = size == 0 ? State::trailers : State::chunk_data;
  return {};
}

Result<std::size_t> BodyDecoder::take_trailers(std::string_view input, http::FieldList& trailers) {
  const HeadLimits limits{.line_bytes = limits_.trailer_bytes,
                          .head_bytes = limits_.trailer_bytes,
                          .fields = limits_.trailer_fields};
  TI_TRY_ASSIGN(const bool complete, trailer_scanner_.scan(input, limits, peer_, false));
  if (!complete) return 0;
  trailers.clear();
  for (const LineScanner::Line line : trailer_scanner_.lines()) {
    TI_TRY(parse_field_line(input, line, peer_, trailers));
    trailers.back().dropped = !http::may_be_trailer(trailers.back());
  }
  state_ = State::done;
  return trailer_scanner_.size();
}

Result<> BodyDecoder::end_of_input() {
  if (state_ == State::until_close) state_ = State::done;
  if (done()) return {};
  return std::unexpected(Error{.code = Code::closed,
                               .side = peer_,
                               .status = status_for(peer_, 400),
                               .what = "connection ended within a body"});
}

}  // namespace titanium::http1
