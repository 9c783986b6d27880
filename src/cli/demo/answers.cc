// SPDX-License-Identifier: MIT
//
// The answers that need no clock, and the table of all paths.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/demo/answer.h"
#include "cli/demo/query.h"
#include "cli/demo/timed_answers.h"
#include "cli/demo/websocket_answer.h"
#include "cli/log/json_text.h"
#include "http/uri.h"
#include "titanium/version.h"

namespace titanium::cli::demo {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::uint64_t kMaxSizedBytes = std::uint64_t{16} << 30;

[[nodiscard]] http::BodySize sized(std::uint64_t bytes) {
  return {.kind = http::BodyKind::sized, .bytes = bytes};
}

// Everything is known at once.
class FixedAnswer final : public Answer {
 public:
  FixedAnswer(std::uint16_t status, std::string_view content_type, std::string body)
      : status_(status), content_type_(content_type), body_(std::move(body)) {}

  void start(AnswerSink& sink) override {
    if (status_ == 204 || status_ == 304) {
      sink.send_head(status_, {}, {});
    } else {
      const FieldLine fields[] = {{"Content-Type", content_type_}};
      sink.send_head(status_, sized(body_.size()), fields);
      sink.send_body(body_);
    }
    sink.send_end();
  }

 private:
  std::uint16_t status_;
  std::string_view content_type_;
  std::string body_;
};

// Sends the request body back while it arrives.
class EchoAnswer final : public Answer {
 public:
  explicit EchoAnswer(const Request& request) : request_(&request) {}

  void start(AnswerSink& sink) override {
    std::array<FieldLine, 2> fields{FieldLine{"Content-Type", "application/octet-stream"}};
    if (const auto* type = request_->head.fields.find("content-type"))
      fields[0].value = type->value;
    std::size_t count = 1;
    if (const auto* coding = request_->head.fields.find("content-encoding")) {
      fields[count++] = {"Content-Encoding", coding->value};
    }
    sink.send_head(200, request_->head.body, std::span(fields).first(count));
    request_ = nullptr;
  }
  void on_request_body(AnswerSink& sink, std::string_view piece) override { sink.send_body(piece); }
  void on_request_end(AnswerSink& sink) override { sink.send_end(); }
  [[nodiscard]] bool sends_what_it_reads() const override { return true; }

 private:
  const Request* request_;  // Until start() only.
};

// N bytes of a pattern, made while they leave.
class SizedAnswer final : public Answer {
 public:
  explicit SizedAnswer(std::uint64_t bytes) : bytes_(bytes), left_(bytes) {}

  void start(AnswerSink& sink) override {
    const FieldLine fields[] = {{"Content-Type", "application/octet-stream"}};
    sink.send_head(200, sized(bytes_), fields);
    if (bytes_ == 0) sink.send_end();
  }
  void on_room(AnswerSink& sink) override {
    while (left_ > 0 && sink.room() > 0) {
      const std::size_t offset = (bytes_ - left_) % kPeriod;
      const auto piece = std::min<std::uint64_t>(left_, kPattern.size() - offset);
      sink.send_body({kPattern.data() + offset, static_cast<std::size_t>(piece)});
      left_ -= piece;
      if (left_ == 0) return sink.send_end();
    }
  }

 private:
  // Lines of 64 bytes, so that a position can be found again by eye.
  static constexpr std::size_t kPeriod = 64;
  static constexpr auto kPattern = [] {
    std::array<char, 128 * kPeriod> pattern{};
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const std::size_t column = i % kPeriod;
      pattern[i] = column + 1 == kPeriod ? '\n' : static_cast<char>('!' + column);
    }
    return pattern;
  }();

  std::uint64_t bytes_;
  std::uint64_t left_;
};

[[nodiscard]] std::unique_ptr<Answer> json(std::string body) {
  return std::make_unique<FixedAnswer>(200, kJson, std::move(body));
}

// As a proxy in front of us says, else whoever connected.
[[nodiscard]] std::string_view client_ip(const Request& request) {
  const auto* field = request.head.fields.find(http::KnownField::x_forwarded_for);
  std::string_view first;
  if (field == nullptr) return request.peer_ip;
  std::string_view list = field->value;
  return http::next_list_element(list, first) ? first : request.peer_ip;
}

[[nodiscard]] std::string_view version_text(http::Version version) {
  return version == http::Version::http10 ? "HTTP/1.0" : "HTTP/1.1";
}

[[nodiscard]] std::unique_ptr<Answer> make_index(const Request& request) {
  std::string body = "{\n  \"name\": \"titanium demo origin\",\n  \"version\": ";
  append_json_string(body, version());
  body += ",\n  \"protocol\": ";
  append_json_string(body, version_text(request.head.version));
  body += ",\n  \"clientIp\": ";
  append_json_string(body, client_ip(request));
  body +=
      ",\n  \"endpoints\": [\"/\", \"/echo\", \"/headers\", \"/bytes/N\", \"/slow?ms=N\", "
      "\"/chunked?n=K&ms=M\", \"/events?n=K&ms=M\", \"/status/CODE\", \"/ws\"]\n}\n";
  return json(std::move(body));
}

// Fields of the same name become one value, as RFC 9110 §5.3 combines them.
[[nodiscard]] std::unique_ptr<Answer> make_headers(const Request& request) {
  const http::FieldList& fields = request.head.fields;
  std::string body = "{\n  \"method\": ";
  append_json_string(body, request.head.method_text);
  body += ",\n  \"path\": ";
  append_json_string(body, request.head.path);
  body += ",\n  \"headers\": {";
  std::string_view separator = "\n    ";
  for (const http::Field& field : fields) {
    if (fields.find(field.name) != &field) continue;  // Was combined with the first one.
    std::string value;
    for (const http::Field& other : fields) {
      if (!http::equals_ignore_case(other.name, field.name)) continue;
      if (&other != &field) value += ", ";
      value += other.value;
    }
    body += separator;
    append_json_string(body, field.name);
    body += ": ";
    append_json_string(body, value);
    separator = ",\n    ";
  }
  body += "\n  }\n}\n";
  return json(std::move(body));
}

[[nodiscard]] std::unique_ptr<Answer> make_echo(const Request& request) {
  if (request.head.body.kind == http::BodyKind::none) {
    return std::make_unique<FixedAnswer>(200, kText, std::string(request.raw_head));
  }
  return std::make_unique<EchoAnswer>(request);
}

[[nodiscard]] std::unique_ptr<Answer> make_sized(std::string_view digits) {
  const auto bytes = parse_number(digits, kMaxSizedBytes);
  if (!bytes) return make_error_answer(400, "/bytes/N: N is a number from 0 to 17179869184");
  return std::make_unique<SizedAnswer>(*bytes);
}

[[nodiscard]] std::unique_ptr<Answer> make_status(std::string_view digits) {
  const auto status = parse_number(digits, 599);
  if (!status || *status < 200) return make_error_answer(400, "/status/CODE: CODE is 200 to 599");
  const auto code = static_cast<std::uint16_t>(*status);
  std::string body = fmt::format("{{\"status\": {}, \"reason\": ", code);
  append_json_string(body, http::reason_phrase(code));
  body += "}\n";
  return std::make_unique<FixedAnswer>(code, kJson, std::move(body));
}

}  // namespace

std::unique_ptr<Answer> make_error_answer(std::uint16_t status, std::string_view reason) {
  std::string body = "{\"error\": ";
  append_json_string(body, reason);
  body += "}\n";
  return std::make_unique<FixedAnswer>(status, kJson, std::move(body));
}

std::unique_ptr<Answer> make_answer(const Request& request) {
  constexpr std::string_view kBytes = "/bytes/";
  constexpr std::string_view kStatus = "/status/";
  const auto [path, query, has_query] = http::split_query(request.head.path);
  if (path == "/") return make_index(request);
  if (path == "/echo") return make_echo(request);
  if (path == "/headers") return make_headers(request);
  if (path == "/slow") return make_slow_answer(query);
  if (path == "/chunked") return make_chunked_answer(query);
  if (path == "/events") return make_events_answer(query);
  if (path == "/ws") return make_websocket_answer(request);
  if (path.starts_with(kBytes)) return make_sized(path.substr(kBytes.size()));
  if (path.starts_with(kStatus)) return make_status(path.substr(kStatus.size()));
  return make_error_answer(404, "there is nothing here; see /");
}

}  // namespace titanium::cli::demo
