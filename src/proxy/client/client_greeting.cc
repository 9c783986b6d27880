// SPDX-License-Identifier: MIT
#include "proxy/client/client_greeting.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/message.h"
#include "http2/frames/frame.h"
#include "proxy/worker.h"

namespace titanium::proxy {
namespace {

constexpr std::size_t kLongestBadPreface = 64;

// RFC 9113 §3.4: an invalid preface is an error of HTTP/2, whose peers could not read a 400. To be
// told from a bad request line: a line of three words in capitals, and none is a method, a target
// or a version of HTTP/1. nullopt: that is not clear yet.
std::optional<bool> is_bad_preface(std::string_view seen) noexcept {
  const std::string_view line = seen.substr(0, seen.find_first_of("\r\n"));
  std::size_t words = 1;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] >= 'A' && line[i] <= 'Z') continue;
    const bool ends_word = line[i] == ' ' && i > 0 && line[i - 1] != ' ';
    if (!ends_word || ++words > 3) return false;
    if (words == 2 && http::find_method(line.substr(0, i)) != http::Method::other) return false;
  }
  if (line.size() == seen.size() && line.size() < kLongestBadPreface) return std::nullopt;
  return words == 3 && line.size() < seen.size() && line.back() != ' ';
}

}  // namespace

ClientGreeting::ClientGreeting(Worker& worker, std::unique_ptr<net::Transport> transport,
                               std::size_t listener, AdmissionTicket ticket)
    : ClientConnection(std::move(ticket)),
      worker_(worker),
      transport_(std::move(transport)),
      listener_(listener),
      input_(worker.chunks()),
      deadline_(worker.loop(), *this) {
  transport_->set_handler(this);
  deadline_.arm(worker.options().timeouts.idle);
}

ClientGreeting::~ClientGreeting() {
  if (transport_ != nullptr) transport_->set_handler(nullptr);
}

void ClientGreeting::drain() {
  // A client that has begun to speak gets its answer from the session to come.
  if (input_.empty()) worker_.remove(*this);
}

void ClientGreeting::on_readable() {
  while (!is_doomed()) {
    const auto result = transport_->read(input_.room());
    if (result.status == net::ReadResult::Status::bytes) {
      const bool first = input_.empty();
      input_.filled(result.bytes);
      const Speaks version = judge();
      if (version != Speaks::unclear) return become(version);
      const auto& timeouts = worker_.options().timeouts;
      const bool limited = timeouts.client_header > net::Duration::zero();
      if (first) deadline_.arm(limited ? timeouts.client_header : timeouts.idle);
      continue;
    }
    input_.release_if_empty();
    if (result.status == net::ReadResult::Status::would_block) return;
    return worker_.remove(*this);
  }
}

ClientGreeting::Speaks ClientGreeting::judge() const noexcept {
  const std::string_view seen = input_.unread();
  const std::size_t known = std::min(seen.size(), http2::kPreface.size());
  if (seen.substr(0, known) == http2::kPreface.substr(0, known)) {
    return known == http2::kPreface.size() ? Speaks::http2 : Speaks::unclear;
  }
  const std::optional<bool> bad = is_bad_preface(seen);
  if (!bad) return Speaks::unclear;
  return *bad ? Speaks::http2 : Speaks::http1;
}

void ClientGreeting::become(Speaks version) {
  deadline_.disarm();
  transport_->set_handler(nullptr);
  if (version == Speaks::http2) {
    worker_.start_http2(std::move(transport_), listener_, take_ticket(), std::move(input_));
  } else {
    worker_.start_http1(std::move(transport_), listener_, take_ticket(), std::move(input_));
  }
  worker_.remove(*this);
}

void ClientGreeting::on_timeout() {
  if (is_doomed()) return;
  if (input_.empty()) return worker_.remove(*this);
  become(Speaks::http1);  // The beginning of a request line: it gets the answer of HTTP/1.
}

}  // namespace titanium::proxy
