// SPDX-License-Identifier: MIT
#include "load/websocket_connection.h"

#include <fmt/format.h>

#include <utility>

#include "http/field.h"

namespace titanium::probe {
namespace {

// RFC 6455 §4.1 wants 16 random bytes, so that a server that answers with a canned text is found
// out. For a server of ours the bytes of the RFC's example do.
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

std::string make_upgrade_head(const RequestPlan& plan) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: rps-load-probe\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n\r\n",
      plan.path, plan.authority, kKey);
}

}  // namespace

WebSocketConnection::WebSocketConnection(const ClientShared& shared)
    : TransportConnection(shared, {}),
      upgrade_head_(make_upgrade_head(shared.plan)),
      echo_(shared.workload.message_bytes) {}

void WebSocketConnection::begin(Exchange& exchange) {
  exchange_ = &exchange;
  if (is_open()) return send_message();
  state_ = State::upgrading;
  echo_.restart();
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
  echo_.expect();
  output().append(echo_.message());
  flush();
}

std::size_t WebSocketConnection::consume(std::string_view bytes) {
  const std::uint32_t from = epoch();
  std::size_t used = 0;
  while (used < bytes.size() && epoch() == from) {
    const std::string_view rest = bytes.substr(used);
    const std::size_t step = state_ == State::upgrading ? take_upgrade(rest) : take_frames(rest);
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

std::size_t WebSocketConnection::take_frames(std::string_view bytes) {
  std::string_view rest = bytes;
  const EchoCheck::Status status = echo_.take(rest);
  if (const std::string pongs = echo_.take_pongs(); !pongs.empty()) {
    output().append(pongs);
    flush();
  }
  switch (status) {
    case EchoCheck::Status::incomplete:
      break;
    case EchoCheck::Status::complete:
      shared_.sink.on_exchange_ok(*std::exchange(exchange_, nullptr));
      break;
    case EchoCheck::Status::closed:
      on_ended("the WebSocket was closed");
      break;
    case EchoCheck::Status::failed:
      fail(echo_.problem());
      break;
  }
  return bytes.size() - rest.size();
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
