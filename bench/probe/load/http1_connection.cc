// SPDX-License-Identifier: MIT
#include "load/http1_connection.h"

#include <fmt/format.h>

#include <utility>

namespace titanium::probe {
namespace {

std::string make_request_head(const RequestPlan& plan, bool keep_alive) {
  std::string head = fmt::format("{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: rps-load-probe\r\n",
                                 plan.name(), plan.authority);
  if (plan.method == http::Method::post) {
    head += fmt::format("Content-Type: text/plain\r\nContent-Length: {}\r\n", plan.body_bytes);
  }
  if (!keep_alive) head += "Connection: close\r\n";
  return head += "\r\n";
}

}  // namespace

Http1Connection::Http1Connection(const ClientShared& shared)
    : TransportConnection(shared, {}),
      request_head_(make_request_head(shared.plan, shared.workload.keep_alive)),
      check_(shared.plan.make_check()) {}

void Http1Connection::begin(Exchange& exchange) {
  exchange_ = &exchange;
  if (!is_open() && !open()) return fail(open_error());
  receiving_ = Receiving::head;
  check_.restart();
  restart_portion();
  output().append(request_head_);
  push_pattern(output(), shared_.pattern, 0, shared_.plan.body_bytes);
  flush();
}

void Http1Connection::abandon() {
  exchange_ = nullptr;
  receiving_ = Receiving::nothing;
  close_hard();
}

std::size_t Http1Connection::consume(std::string_view bytes) {
  const std::uint32_t from = epoch();
  std::size_t used = 0;
  while (used < bytes.size() && epoch() == from) {
    const std::string_view rest = bytes.substr(used);
    std::size_t step = 0;
    switch (receiving_) {
      case Receiving::nothing:
        if (exchange_ != nullptr) {
          fail("bytes behind the answer");
        } else {
          close();  // The last exchange was counted already; the next one finds out.
        }
        return bytes.size();
      case Receiving::head:
        step = take_head(rest);
        break;
      case Receiving::body:
        step = take_body(rest);
        break;
    }
    if (step == 0) break;
    used += step;
  }
  return used;
}

std::size_t Http1Connection::take_head(std::string_view bytes) {
  std::size_t length = last_head_.size();
  if (length == 0 || !bytes.starts_with(last_head_)) {
    length = parse_head(bytes);
    if (length == 0 || receiving_ == Receiving::nothing) return length;
    if (head_.is_interim()) {
      parser_.reset();
      return length;
    }
  }
  parser_.reset();
  start_body();
  return length;
}

std::size_t Http1Connection::parse_head(std::string_view bytes) {
  http1::ConnectionInfo info;
  const auto parsed = parser_.parse(bytes, shared_.plan.method, head_, info);
  if (!parsed) {
    fail(fmt::format("bad answer: {}", parsed.error().what));
    return 0;
  }
  if (!*parsed) return 0;
  if (!head_.is_interim()) {
    answer_ = {.framing = {.framing = info.framing, .bytes = head_.body.bytes},
               .status = head_.status,
               .persistent = info.persistent};
    last_head_.assign(bytes.substr(0, **parsed));
  }
  return **parsed;
}

void Http1Connection::start_body() {
  if (answer_.status < 200 || answer_.status > 299) {
    return fail(fmt::format("status {}", answer_.status));
  }
  receiving_ = Receiving::body;
  body_.start(answer_.framing);
  if (body_.done()) on_answer_complete();
}

std::size_t Http1Connection::take_body(std::string_view bytes) {
  const auto step = body_.next(bytes, trailers_);
  if (!step) {
    fail(fmt::format("bad body: {}", step.error().what));
    return 0;
  }
  if (!check_.take(bytes.substr(step->overhead, step->data))) {
    fail(fmt::format("wrong content after {} bytes", check_.seen()));
    return 0;
  }
  if (step->done) on_answer_complete();
  return step->overhead + step->data;
}

void Http1Connection::on_answer_complete() {
  if (!check_.is_complete()) {
    return fail(fmt::format("the answer has only {} bytes", check_.seen()));
  }
  receiving_ = Receiving::nothing;
  finish_if_complete();
}

// An exchange is over when both directions are: an early answer does not end the request.
void Http1Connection::finish_if_complete() {
  if (exchange_ == nullptr || receiving_ != Receiving::nothing || !is_sent()) return;
  finish(answer_.persistent && shared_.workload.keep_alive && !is_write_broken());
}

void Http1Connection::finish(bool reusable) {
  if (!reusable) close();
  shared_.sink.on_exchange_ok(*std::exchange(exchange_, nullptr));
}

void Http1Connection::on_ended(std::string_view what) {
  if (exchange_ == nullptr) return close();
  // After an early answer the peer need not take the rest of the request (RFC 9112 §9.6).
  if (receiving_ == Receiving::nothing) return finish(false);
  if (receiving_ == Receiving::body && answer_.framing.framing == http1::Framing::until_close &&
      body_.end_of_input().has_value()) {
    on_answer_complete();
    // The request may not be out, and never will be.
    if (exchange_ != nullptr && receiving_ == Receiving::nothing) finish(false);
    return;
  }
  fail(receiving_ == Receiving::head ? fmt::format("{} before the answer", what)
                                     : fmt::format("{} after {} bytes", what, check_.seen()));
}

void Http1Connection::fail(std::string_view what) {
  receiving_ = Receiving::nothing;
  parser_.reset();
  close_hard();
  Exchange* const failed = std::exchange(exchange_, nullptr);
  if (failed != nullptr) shared_.sink.on_exchange_failed(*failed, what);
}

}  // namespace titanium::probe
