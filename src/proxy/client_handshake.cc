// SPDX-License-Identifier: MIT
#include "proxy/client_handshake.h"

#include <utility>

#include "proxy/worker.h"

namespace titanium::proxy {

ClientHandshake::ClientHandshake(Worker& worker, std::unique_ptr<net::Transport> transport,
                                 std::shared_ptr<const tls::ServerContext> context,
                                 std::size_t from_listener)
    : worker_(worker), deadline_(worker.loop(), *this) {
  listener = from_listener;
  transport_ = tls::make_tls_server(worker.loop(), worker.chunks(), std::move(transport),
                                    std::move(context), *this);
  deadline_.arm(worker.options().timeouts.client_handshake);
}

void ClientHandshake::on_handshake(Result<> result) {
  if (is_doomed()) return;
  if (result) {
    worker_.start_session(std::move(transport_), listener);
  } else {
    worker_.logger().log(LogLevel::debug, "TLS handshake with client {} failed: {} ({})",
                         transport_->peer_address().ip(), result.error().what,
                         transport_->detail());
  }
  worker_.remove(*this);
}

void ClientHandshake::on_timeout() {
  if (!is_doomed()) worker_.remove(*this);
}

}  // namespace titanium::proxy
