// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http1/body_decoder.h"
#include "http1/head_parser.h"
#include "load/transport_connection.h"

namespace titanium::probe {

// HTTP/1.1: one exchange at a time on a connection that is kept, or on a new one each time.
class Http1Connection final : public TransportConnection {
 public:
  explicit Http1Connection(const ClientShared& shared);

  void begin(Exchange& exchange) override;
  void abandon() override;

 private:
  enum class Receiving : std::uint8_t { nothing, head, body };

  // What of a head decides how to go on.
  struct Answer {
    http1::MessageFraming framing;
    std::uint16_t status = 0;
    bool persistent = false;
  };

  [[nodiscard]] std::size_t consume(std::string_view bytes) override;
  void on_sent() override { finish_if_complete(); }
  void on_ended(std::string_view what) override;

  // The length of the head; 0: incomplete, or the exchange failed and the connection is closed.
  [[nodiscard]] std::size_t take_head(std::string_view bytes);
  [[nodiscard]] std::size_t parse_head(std::string_view bytes);
  void start_body();
  [[nodiscard]] std::size_t take_body(std::string_view bytes);
  void on_answer_complete();
  void finish_if_complete();
  void finish(bool reusable);
  void fail(std::string_view what);

  std::string request_head_;  // Bytes, made once.
  Exchange* exchange_ = nullptr;
  Receiving receiving_ = Receiving::nothing;
  // The head received last, and what it says. An origin sends the same bytes over and over, and the
  // same bytes mean the same: comparing costs a tenth of parsing.
  std::string last_head_;
  Answer answer_;
  http1::ResponseParser parser_;
  http1::BodyDecoder body_{Side::origin};
  http::ResponseHead head_;
  http::FieldList trailers_;
  BodyCheck check_;
};

}  // namespace titanium::probe
