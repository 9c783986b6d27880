// SPDX-License-Identifier: MIT
#include "cli/demo/timed_answers.h"

#include <fmt/format.h>

#include <limits>
#include <string>

#include "cli/demo/query.h"

namespace titanium::cli::demo {
namespace {

constexpr std::uint64_t kMaxWaitMs = 60'000;
constexpr std::uint64_t kMaxPieces = 1'000'000;
constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

class SlowAnswer final : public Answer {
 public:
  explicit SlowAnswer(net::Duration wait) : wait_(wait) {}

  void start(AnswerSink& sink) override { sink.wake_after(wait_); }
  void on_timer(AnswerSink& sink) override {
    const std::string body = fmt::format("{{\"waitedMs\": {}}}\n", wait_.count());
    const FieldLine fields[] = {{"Content-Type", "application/json"}};
    sink.send_head(200, {.kind = http::BodyKind::sized, .bytes = body.size()}, fields);
    sink.send_body(body);
    sink.send_end();
  }

 private:
  net::Duration wait_;
};

// A body that comes in pieces: chunks, or events.
class PacedAnswer final : public Answer {
 public:
  enum class Kind : std::uint8_t { chunks, events };

  PacedAnswer(Kind kind, std::uint64_t pieces, net::Duration pause)
      : kind_(kind), pieces_(pieces), pause_(pause) {}

  void start(AnswerSink& sink) override {
    const FieldLine chunks[] = {{"Content-Type", "text/plain; charset=utf-8"},
                                {"Trailer", "X-Chunks"}};
    const FieldLine events[] = {{"Content-Type", "text/event-stream"},
                                {"Cache-Control", "no-store"}};
    sink.send_head(200, {.kind = http::BodyKind::streamed},
                   kind_ == Kind::chunks ? std::span(chunks) : std::span(events));
    if (pieces_ == 0) return end(sink);
    // The first piece goes out with the head: a client sees at once that the stream lives.
    send_piece(sink);
  }
  void on_timer(AnswerSink& sink) override {
    // A reader that has stopped reading gets no more until it goes on.
    if (sink.room() == 0) return sink.wake_after(kRetry);
    send_piece(sink);
  }
  void on_room(AnswerSink& sink) override {
    if (pause_.count() > 0) return;
    while (sent_ < pieces_ && sink.room() > 0) send_piece(sink);
  }

 private:
  static constexpr net::Duration kRetry{100};

  void send_piece(AnswerSink& sink) {
    ++sent_;
    sink.send_body(kind_ == Kind::chunks
                       ? fmt::format("chunk {}\n", sent_)
                       : fmt::format("id: {0}\ndata: {{\"event\": {0}}}\n\n", sent_));
    if (sent_ == pieces_) return end(sink);
    if (pause_.count() > 0) sink.wake_after(pause_);
  }
  void end(AnswerSink& sink) {
    if (kind_ == Kind::events) return sink.send_end();
    const std::string count = std::to_string(sent_);
    const FieldLine trailers[] = {{"X-Chunks", count}};
    sink.send_end(trailers);
  }

  Kind kind_;
  std::uint64_t pieces_;
  std::uint64_t sent_ = 0;
  net::Duration pause_;
};

[[nodiscard]] net::Duration milliseconds(std::uint64_t count) {
  return net::Duration(static_cast<net::Duration::rep>(count));
}

}  // namespace

std::unique_ptr<Answer> make_slow_answer(std::string_view query) {
  const auto wait = query_number(query, "ms", 1000, kMaxWaitMs);
  if (!wait) return make_error_answer(400, "/slow?ms=N: N is 0 to 60000");
  return std::make_unique<SlowAnswer>(milliseconds(*wait));
}

std::unique_ptr<Answer> make_chunked_answer(std::string_view query) {
  const auto pieces = query_number(query, "n", 5, kMaxPieces);
  const auto pause = query_number(query, "ms", 100, kMaxWaitMs);
  if (!pieces || !pause) {
    return make_error_answer(400, "/chunked?n=K&ms=M: K is 0 to 1000000, M is 0 to 60000");
  }
  return std::make_unique<PacedAnswer>(PacedAnswer::Kind::chunks, *pieces, milliseconds(*pause));
}

std::unique_ptr<Answer> make_events_answer(std::string_view query) {
  const auto pieces = query_number(query, "n", kEndless, kMaxPieces);
  const auto pause = query_number(query, "ms", 1000, kMaxWaitMs);
  if (!pieces || !pause) {
    return make_error_answer(400, "/events?n=K&ms=M: K is 0 to 1000000, M is 0 to 60000");
  }
  return std::make_unique<PacedAnswer>(PacedAnswer::Kind::events, *pieces, milliseconds(*pause));
}

}  // namespace titanium::cli::demo
