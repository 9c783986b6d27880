// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/intrusive_list.h"
#include "net/bound.h"
#include "net/connector.h"
#include "tls/tls_transport.h"

namespace titanium::proxy {

class Exchange;
class OriginPool;

// An exchange that waits for a new connection: name look-up, TCP, TLS. Owned by its pool.
class OriginRequest final : public ListLink<OriginRequest>,
                            private net::ConnectHandler,
                            private tls::HandshakeHandler {
 public:
  OriginRequest(OriginPool& pool, Exchange& exchange);
  ~OriginRequest();

  // The exchange does not want the connection any more.
  void cancel();

 private:
  void on_connected(Result<std::unique_ptr<net::Transport>> transport) override;
  void on_handshake(Result<> result) override;
  void on_timeout();
  void succeed(std::unique_ptr<net::Transport> transport);
  void fail(const Error& error);

  OriginPool& pool_;
  Exchange* exchange_;
  net::Connector::AttemptPtr attempt_;
  std::unique_ptr<tls::TlsTransport> handshaking_;
  net::MemberTimer<OriginRequest, &OriginRequest::on_timeout> deadline_;
};

}  // namespace titanium::proxy
