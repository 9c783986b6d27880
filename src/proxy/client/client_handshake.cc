// SPDX-License-Identifier: MIT
#include "proxy/client/client_handshake.h"

#include <utility>

#include "proxy/worker.h"

namespace titanium::proxy {

ClientHandshake::ClientHandshake(Worker& worker, std::unique_ptr<net::Transport> transport,
                                 std::shared_ptr<const tls::ServerContext> context,
                                 std::size_t listener, AdmissionTicket ticket)
    : ClientConnection(std::move(ticket)),
      worker_(worker),
      listener_(listener),
      deadline_(worker.loop(), *this) {
  transport_ = tls::make_tls_server(worker.loop(), worker.chunks(), std::move(transport),
                                    std::move(context), *this);
  deadline_.arm(worker.options().timeouts.client_handshake);
}

void ClientHandshake::on_handshake(Result<> result) {
  if (is_doomed()) return;
  if (result) {
    const tls::TlsTransport& tls = *transport_;
    worker_.logger().log(LogLevel::debug, "TLS with client {}: {} {} {} SNI '{}'{}",
                         tls.peer_address().ip(), tls.version(), tls.cipher(), tls.group(),
                         tls.server_name(), tls.resumed() ? " resumed" : "");
    worker_.start_session(std::move(transport_), listener_, take_ticket());
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
