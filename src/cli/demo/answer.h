// SPDX-License-Identifier: MIT
//
// How the demo origin is put together: a Connection speaks HTTP/1.1, an Answer decides what one
// request gets. Neither knows more of the other than what is here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "http/message.h"
#include "net/event_loop.h"

namespace titanium::cli::demo {

struct FieldLine {
  std::string_view name;
  std::string_view value;
};

// What an answer does to its connection. Output is queued; nothing here calls back.
class AnswerSink {
 public:
  // The head of the final response. Answers to HEAD get the same calls: the sink drops the body.
  virtual void send_head(std::uint16_t status, http::BodySize body,
                         std::span<const FieldLine> fields) = 0;
  // 101: from now on the bytes of both directions are those of `protocol`.
  virtual void send_upgrade(std::string_view protocol, std::span<const FieldLine> fields) = 0;
  virtual void send_body(std::string_view text) = 0;
  // The response is complete.
  virtual void send_end(std::span<const FieldLine> trailers = {}) = 0;

  // Bytes that may be queued before the peer has to take some.
  [[nodiscard]] virtual std::size_t room() const = 0;
  // Answer::on_timer() comes once, after this time.
  virtual void wake_after(net::Duration after) = 0;

 protected:
  ~AnswerSink() = default;
};

// One response in the making. Is destroyed after send_end(), or when the peer has gone.
class Answer {
 public:
  virtual ~Answer() = default;

  // The request head was read; the views of the request are valid during this call only.
  virtual void start(AnswerSink& sink) = 0;
  virtual void on_request_body(AnswerSink&, std::string_view) {}
  virtual void on_request_end(AnswerSink&) {}
  // There is room() now. Comes after start(), and whenever output has left, until send_end().
  virtual void on_room(AnswerSink&) {}
  virtual void on_timer(AnswerSink&) {}

  // True: request bytes are held back while there is no room for output.
  [[nodiscard]] virtual bool sends_what_it_reads() const { return false; }
};

struct Request {
  const http::RequestHead& head;
  std::string_view raw_head;  // As received.
  std::string_view peer_ip;
};

// Decides by the path. Never null: what is not there gets a 404. `request` is used until start()
// returns.
[[nodiscard]] std::unique_ptr<Answer> make_answer(const Request& request);

// {"error": reason}, for requests that have no answer of their own.
[[nodiscard]] std::unique_ptr<Answer> make_error_answer(std::uint16_t status,
                                                        std::string_view reason);

}  // namespace titanium::cli::demo
