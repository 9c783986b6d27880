// SPDX-License-Identifier: MIT
#include "control/relay.h"

#include <utility>

namespace titanium::probe::control {

std::unique_ptr<Session> Relay::make(Worker& worker, net::FileDescriptor client, SslHandle tls,
                                     std::uint16_t origin_port) {
  std::unique_ptr<Relay> relay(new Relay(worker, std::move(client), std::move(tls), origin_port));
  if (relay->origin_ == nullptr) return nullptr;
  return relay;
}

Relay::Relay(Worker& worker, net::FileDescriptor client, SslHandle tls, std::uint16_t origin_port)
    : worker_(worker),
      client_(std::make_unique<Endpoint>(worker, std::move(client), std::move(tls),
                                         static_cast<EndpointOwner*>(this))),
      origin_(Endpoint::connect(worker, origin_port, this)),
      up_{.from = client_.get(), .to = origin_.get()},
      down_{.from = origin_.get(), .to = client_.get()} {}

bool Relay::pump(Direction& direction) {
  while (!direction.to->is_blocked() && !direction.ended) {
    const Endpoint::Got got = direction.from->read();
    switch (got.status) {
      case Endpoint::Status::bytes:
        if (!direction.to->send(got.bytes)) return false;
        break;
      case Endpoint::Status::blocked:
        return true;
      case Endpoint::Status::ended:
        direction.ended = true;
        direction.to->shutdown_write();
        break;
      case Endpoint::Status::failed:
        return false;
    }
  }
  return true;
}

void Relay::on_endpoint(Endpoint& /*endpoint*/) {
  const bool whole = pump(up_) && pump(down_);
  const bool over = up_.ended && down_.ended && !client_->is_blocked() && !origin_->is_blocked();
  if (!whole || over) {
    client_->set_owner(nullptr);
    origin_->set_owner(nullptr);
    worker_.remove(*this);
  }
}

}  // namespace titanium::probe::control
