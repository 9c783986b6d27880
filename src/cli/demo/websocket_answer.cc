// SPDX-License-Identifier: MIT
#include "cli/demo/websocket_answer.h"

#include <utility>

#include "cli/demo/websocket_echo.h"
#include "proxy/websocket_handshake.h"

namespace titanium::cli::demo {
namespace {

class WebSocketAnswer final : public Answer {
 public:
  explicit WebSocketAnswer(std::string accept) : accept_(std::move(accept)) {}

  void start(AnswerSink& sink) override {
    const FieldLine fields[] = {{"Sec-WebSocket-Accept", accept_}};
    sink.send_upgrade("websocket", fields);
  }
  void on_request_body(AnswerSink& sink, std::string_view piece) override {
    out_.clear();
    const bool open = echo_.feed(piece, out_);
    sink.send_body(out_);
    if (!open) sink.send_end();
  }
  void on_request_end(AnswerSink& sink) override { sink.send_end(); }
  [[nodiscard]] bool sends_what_it_reads() const override { return true; }

 private:
  WebSocketEcho echo_;
  std::string accept_;
  std::string out_;
};

// RFC 6455 §4.1: 16 bytes in base64, which is 22 characters and two equals signs.
[[nodiscard]] bool is_key(std::string_view key) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return key.size() == 24 && key.ends_with("==") &&
         key.find_first_not_of(kAlphabet) == key.size() - 2;
}

}  // namespace

std::unique_ptr<Answer> make_websocket_answer(const Request& request) {
  const http::RequestHead& head = request.head;
  if (head.method != http::Method::get || head.version != http::Version::http11 ||
      !http::list_contains(head.upgrade, "websocket")) {
    return make_error_answer(426, "this is a WebSocket: GET with Upgrade: websocket");
  }
  const auto* version = head.fields.find("sec-websocket-version");
  const auto* key = head.fields.find("sec-websocket-key");
  if (version == nullptr || version->value != "13") {
    return make_error_answer(426, "Sec-WebSocket-Version has to be 13");
  }
  if (key == nullptr || !is_key(key->value)) {
    return make_error_answer(400, "Sec-WebSocket-Key has to be 16 bytes in base64");
  }
  return std::make_unique<WebSocketAnswer>(proxy::websocket_accept_value(key->value));
}

}  // namespace titanium::cli::demo
