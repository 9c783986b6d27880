// SPDX-License-Identifier: MIT
#include "load/websocket_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http/field.h"

namespace titanium::probe {
namespace {

// RFC 6455 §4.1 wants 16 random bytes, so that a server that answers with a canned text is found
// out. For a server of ours the bytes of the RFC's example do.
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr websocket::Mask kMask = {0x37, 0xfa, 0x21, 0x3d};

std::string make_upgrade_head(const RequestPlan& plan) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: rps-load-probe\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
      plan.path, plan.authority, kKey);
}

std::string make_message(std::uint32_t bytes) {
  std::string frame;
  websocket::append_header(
      frame,
      {.opcode = websocket::Opcode::binary, .final = true, .mask = kMask, .payload_bytes = bytes});
  const std::size_t head = frame.size();
  while (frame.size() < head + bytes) {
    frame.append(pattern().substr(0, head + bytes - frame.size()));
  }
  websocket::apply_mask(std::span(frame).subspan(head), kMask, 0);
  return frame;
}

BodyCheck make_check(std::uint32_t bytes) {
  BodyCheck check;
  check.expect_pattern(bytes);
  return check;
}

}  // namespace

WebSocketConnection::WebSocketConnection(const ClientShared& shared)
    : TransportConnection(shared),
      upgrade_head_(make_upgrade_head(shared.plan)),
      message_(make_message(shared.workload.message_bytes)),
      check_(make_check(shared.workload.message_bytes)) {}

void WebSocketConnection::begin(Exchange& exchange) {
  exchange_ = &exchange;
  check_.restart();
  in_message_ = false;
  if (is_open()) return send_message();
  state_ = State::upgrading;
  frame_.reset();
  parser_.reset();
  if (!open()) return fail(open_error());
  output().append(upgrade_head_);
  flush();
}

void WebSocketConnection::abandon() {
  exchange_ = nullptr;
  close_hard();
}

void WebSocketConnection::send_message() {
  restart_portion();
  output().append(message_);
  flush();
}

std::size_t WebSocketConnection::consume(std::string_view bytes) {
  const std::uint32_t from = epoch();
  std::size_t used = 0;
  while (used < bytes.size() && epoch() == from) {
    const std::string_view rest = bytes.substr(used);
    const std::size_t step = state_ == State::upgrading ? take_upgrade(rest)
                             : frame_                   ? take_payload(rest)
                                                        : take_header(rest);
    if (step == 0) break;
    used += step;
  }
  return used;
}

std::size_t WebSocketConnection::take_upgrade(std::string_view bytes) {
  http1::ConnectionInfo info;
  const auto parsed = parser_.parse(bytes, http::Method::get, head_, info);
  if (!parsed) {
    fail(fmt::format("bad answer to the upgrade: {}", parsed.error().what));
    return 0;
  }
  if (!*parsed) return 0;
  parser_.reset();
  if (head_.is_interim()) return **parsed;
  const http::Field* const accept = head_.fields.find("sec-websocket-accept");
  if (head_.status != 101) {
    fail(fmt::format("status {} to the upgrade", head_.status));
  } else if (accept == nullptr || accept->value != websocket::accept_of(kKey)) {
    fail("the upgrade was accepted with a wrong Sec-WebSocket-Accept");
  } else {
    state_ = State::frames;
    send_message();
  }
  return **parsed;
}

std::size_t WebSocketConnection::take_header(std::string_view bytes) {
  const auto parsed = websocket::parse_header(bytes, Side::origin);
  if (!parsed || (*parsed && (*parsed)->header.mask)) {
    fail(parsed ? "a masked frame from the server" : parsed.error().what);
    return 0;
  }
  if (!*parsed) return 0;
  const websocket::ParsedHeader& frame = **parsed;
  if (websocket::is_control(frame.header.opcode)) return take_control(frame, bytes);
  const bool continues = frame.header.opcode == websocket::Opcode::continuation;
  if (exchange_ == nullptr || continues != in_message_) {
    fail("a message that nobody asked for");
    return 0;
  }
  frame_ = frame.header;
  frame_left_ = frame.header.payload_bytes;
  if (frame_left_ == 0) end_frame();
  return frame.bytes;
}

std::size_t WebSocketConnection::take_control(const websocket::ParsedHeader& frame,
                                              std::string_view bytes) {
  const auto length = static_cast<std::size_t>(frame.header.payload_bytes);
  if (bytes.size() < frame.bytes + length) return 0;
  if (frame.header.opcode == websocket::Opcode::close) {
    on_ended("the WebSocket was closed");
    return 0;
  }
  if (frame.header.opcode == websocket::Opcode::ping) {
    std::string pong;
    websocket::append_header(pong, {.opcode = websocket::Opcode::pong,
                                    .final = true,
                                    .mask = websocket::Mask{},  // Zeros change nothing.
                                    .payload_bytes = length});
    output().append(pong.append(bytes.substr(frame.bytes, length)));
    flush();
  }
  return frame.bytes + length;
}

std::size_t WebSocketConnection::take_payload(std::string_view bytes) {
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), frame_left_));
  if (!check_.take(bytes.substr(0, part))) {
    fail(fmt::format("wrong echo after {} bytes", check_.seen()));
    return 0;
  }
  frame_left_ -= part;
  if (frame_left_ == 0) end_frame();
  return part;
}

void WebSocketConnection::end_frame() {
  in_message_ = !frame_->final;
  frame_.reset();
  if (in_message_) return;
  if (!check_.is_complete()) {
    return fail(fmt::format("the echo has only {} bytes", check_.seen()));
  }
  shared_.sink.on_exchange_ok(*std::exchange(exchange_, nullptr));
}

void WebSocketConnection::on_ended(std::string_view what) {
  if (exchange_ == nullptr) return close();
  fail(state_ == State::upgrading ? fmt::format("{} during the upgrade", what)
                                  : fmt::format("{} before the echo was complete", what));
}

void WebSocketConnection::fail(std::string_view what) {
  close_hard();
  Exchange* const failed = std::exchange(exchange_, nullptr);
  if (failed != nullptr) shared_.sink.on_exchange_failed(*failed, what);
}

}  // namespace titanium::probe
