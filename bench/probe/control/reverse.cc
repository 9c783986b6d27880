// SPDX-License-Identifier: MIT
#include "control/reverse.h"

#include <algorithm>
#include <utility>

namespace titanium::probe::control {
namespace {

// `rest` may be a part of `text`.
void keep(std::string& text, std::string_view rest) {
  if (rest.empty()) {
    text.clear();
  } else {
    text = std::string(rest);
  }
}

}  // namespace

// Pool ------------------------------------------------------------------------------------------

std::unique_ptr<Endpoint> OriginPool::take(Worker& worker, EndpointOwner* owner) {
  if (idle_.empty()) return Endpoint::connect(worker, port_, owner);
  auto endpoint = std::move(idle_.back());
  idle_.pop_back();
  endpoint->set_owner(owner);
  return endpoint;
}

void OriginPool::put(Worker& worker, std::unique_ptr<Endpoint> endpoint) {
  worker_ = &worker;
  endpoint->set_owner(this);
  idle_.push_back(std::move(endpoint));
}

void OriginPool::on_endpoint(Endpoint& endpoint) {
  if (endpoint.is_fresh()) return;
  const auto found = std::ranges::find(idle_, &endpoint, &std::unique_ptr<Endpoint>::get);
  if (found == idle_.end()) return;
  (*found)->set_owner(nullptr);
  worker_->bury(std::move(*found));
  idle_.erase(found);
}

// Session ---------------------------------------------------------------------------------------

Reverse::Reverse(Worker& worker, OriginPool& pool, net::FileDescriptor client, SslHandle tls)
    : worker_(worker),
      pool_(pool),
      client_(std::make_unique<Endpoint>(worker, std::move(client), std::move(tls),
                                         static_cast<EndpointOwner*>(this))) {}

void Reverse::on_endpoint(Endpoint& /*endpoint*/) { pump(); }

void Reverse::pump() {
  for (;;) {
    if (closed_) return;
    if (closing_) return discard();
    if (!pump_request() || !pump_response()) return close();
    if (closing_ || !request_.done || !response_.done || client_->is_blocked()) return;
    if (tunnel_) return close();
    finish_exchange();
  }
}

bool Reverse::pump_request() {
  if (request_.in_head && !request_.unread.empty() && origin_ == nullptr) {
    // A request that came together with the one before it.
    const std::string waiting = std::exchange(request_.unread, {});
    if (!take_request(waiting)) return false;
  }
  while (!closing_ && !request_.done && (origin_ == nullptr || !origin_->is_blocked())) {
    const Endpoint::Got got = client_->read();
    switch (got.status) {
      case Endpoint::Status::bytes:
        if (!take_request(got.bytes)) return false;
        break;
      case Endpoint::Status::blocked:
        return true;
      case Endpoint::Status::ended:
        if (!tunnel_) return false;
        origin_->shutdown_write();
        request_.done = true;
        break;
      case Endpoint::Status::failed:
        return false;
    }
  }
  return true;
}

bool Reverse::take_request(std::string_view input) {
  if (request_.in_head) return take_request_head(input);
  const std::size_t length = request_.body.take(input);
  keep(request_.unread, input.substr(length));
  request_.done = request_.body.is_done();
  return !request_.body.is_bad() && origin_->send(input.substr(0, length));
}

bool Reverse::take_request_head(std::string_view input) {
  if (!request_.unread.empty()) {
    request_.unread.append(input);
    input = request_.unread;
  }
  out_.clear();
  switch (parse_head(input, false, request_.head, out_)) {
    case HeadStatus::incomplete:
      keep(request_.unread, input);
      return true;
    case HeadStatus::bad:
      refuse("400 Bad Request");
      return true;
    case HeadStatus::complete:
      break;
  }
  out_.append("\r\n");
  request_.in_head = false;
  request_.body.start_request(request_.head);
  input.remove_prefix(request_.head.bytes);
  const std::size_t length = request_.body.take(input);
  out_.append(input.substr(0, length));
  keep(request_.unread, input.substr(length));
  request_.done = request_.body.is_done();
  origin_ = pool_.take(worker_, this);
  if (origin_ == nullptr || !origin_->send(out_)) refuse("502 Bad Gateway");
  return !request_.body.is_bad();
}

bool Reverse::pump_response() {
  while (!closing_ && origin_ != nullptr && !response_.done && !client_->is_blocked()) {
    const Endpoint::Got got = origin_->read();
    switch (got.status) {
      case Endpoint::Status::bytes:
        if (!take_response(got.bytes)) return false;
        break;
      case Endpoint::Status::blocked:
        return true;
      case Endpoint::Status::ended:
      case Endpoint::Status::failed:
        return on_origin_ended();
    }
  }
  return true;
}

bool Reverse::take_response(std::string_view input) {
  if (!response_.in_head) {
    const std::size_t length = response_.body.take(input);
    response_.done = response_.body.is_done();
    // Bytes behind an answer make the connection useless, not the answer.
    if (length < input.size()) response_.head.close = true;
    return !response_.body.is_bad() && client_->send(input.substr(0, length));
  }
  if (!response_.unread.empty()) {
    response_.unread.append(input);
    input = response_.unread;
  }
  out_.clear();
  while (response_.in_head && !response_.done) {
    const std::size_t before = input.size();
    if (!take_response_head(input)) return false;
    if (closing_ || input.size() == before) break;  // Incomplete.
  }
  if (!response_.in_head) {
    const std::size_t length = response_.body.take(input);
    out_.append(input.substr(0, length));
    if (length < input.size()) response_.head.close = true;
    input = {};
    response_.done = response_.body.is_done();
  }
  keep(response_.unread, input);
  return !response_.body.is_bad() && (out_.empty() || client_->send(out_));
}

// Moves `input` behind the head, if it is complete.
bool Reverse::take_response_head(std::string_view& input) {
  const HeadStatus status = parse_head(input, true, response_.head, out_);
  if (status == HeadStatus::incomplete) return true;
  if (status == HeadStatus::bad) {
    out_.clear();
    refuse("502 Bad Gateway");
    return true;
  }
  input.remove_prefix(response_.head.bytes);
  if (response_.head.status < 200 && response_.head.status != 101) {
    out_.append("\r\n");
    return true;
  }
  response_.in_head = false;
  if (response_.head.status == 101) {
    out_.append("\r\n");
    start_tunnel();
    return true;
  }
  response_.body.start_response(response_.head, request_.head.is_head_request);
  if (response_.body.ends_with_connection()) response_.head.close = true;
  if (response_.body.ends_with_connection() || !request_.head.persistent()) {
    out_.append("Connection: close\r\n");
  } else if (request_.head.http10) {
    out_.append("Connection: keep-alive\r\n");
  }
  out_.append("\r\n");
  return true;
}

void Reverse::start_tunnel() {
  tunnel_ = true;
  response_.body.start_raw();
  request_.body.start_raw();
  request_.done = false;
  if (!request_.unread.empty()) {
    // A broken origin shows at the next read.
    (void)origin_->send(std::exchange(request_.unread, {}));
  }
}

bool Reverse::on_origin_ended() {
  if (tunnel_) {
    client_->shutdown_write();
    response_.done = true;
    return !origin_->is_broken();
  }
  if (response_.in_head) {
    refuse("502 Bad Gateway");
    return true;
  }
  response_.done = response_.body.ends_with_connection() && !origin_->is_broken();
  // Nobody takes the rest of the request.
  if (response_.done) request_.done = true;
  return response_.done;
}

void Reverse::finish_exchange() {
  const bool client_stays = request_.head.persistent() && !response_.body.ends_with_connection();
  if (response_.head.persistent() && origin_->is_fresh()) {
    pool_.put(worker_, std::move(origin_));
  } else {
    origin_->set_owner(nullptr);
    worker_.bury(std::move(origin_));
  }
  request_.in_head = response_.in_head = true;
  request_.done = response_.done = false;
  response_.unread.clear();
  if (client_stays) return;
  client_->shutdown_write();
  closing_ = true;
}

void Reverse::refuse(std::string_view status) {
  closing_ = true;
  std::string answer = "HTTP/1.1 ";
  answer.append(status).append("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  if (client_->send(answer)) client_->shutdown_write();
  if (origin_ == nullptr) return;
  origin_->set_owner(nullptr);
  worker_.bury(std::move(origin_));
}

void Reverse::discard() {
  for (;;) {
    const Endpoint::Got got = client_->read();
    if (got.status == Endpoint::Status::blocked) return;
    if (got.status == Endpoint::Status::bytes) continue;
    return close();
  }
}

void Reverse::close() {
  if (closed_) return;
  closed_ = true;
  client_->set_owner(nullptr);
  if (origin_ != nullptr) origin_->set_owner(nullptr);
  worker_.remove(*this);
}

}  // namespace titanium::probe::control
