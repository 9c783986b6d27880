// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "net/bound.h"
#include "proxy/client/client_connection.h"
#include "tls/tls_transport.h"

namespace titanium::proxy {

class Worker;

// A client whose TLS handshake is in progress. Becomes a session, or ends.
class ClientHandshake final : public ClientConnection, private tls::HandshakeHandler {
 public:
  ClientHandshake(Worker& worker, std::unique_ptr<net::Transport> transport,
                  std::shared_ptr<const tls::ServerContext> context, std::size_t listener,
                  AdmissionTicket ticket);

  void drain() override {}  // It has its deadline, and what follows it is drained.

 private:
  void on_handshake(Result<> result) override;
  void on_timeout();

  Worker& worker_;
  std::size_t listener_;
  std::unique_ptr<tls::TlsTransport> transport_;
  net::MemberTimer<ClientHandshake, &ClientHandshake::on_timeout> deadline_;
};

}  // namespace titanium::proxy
