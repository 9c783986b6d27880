// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/intrusive_list.h"
#include "net/bound.h"
#include "net/connector.h"
#include "tls/tls_transport.h"

namespace titanium::proxy {

class OriginPool;

// A connection to an origin in the making: name look-up, TCP, TLS. Owned by its pool, which is told
// how it ends and finds out for whom the connection is then.
class OriginConnect final : public ListLink<OriginConnect>,
                            private net::ConnectHandler,
                            private tls::HandshakeHandler {
 public:
  // `http1_only`: for an upgrade that an HTTP/2 connection can not carry.
  OriginConnect(OriginPool& pool, bool http1_only);
  ~OriginConnect();

  [[nodiscard]] bool is_http1_only() const noexcept { return http1_only_; }

 private:
  void on_connected(Result<std::unique_ptr<net::Transport>> transport) override;
  void on_handshake(Result<> result) override;
  void on_timeout();
  void fail(const Error& error);

  OriginPool& pool_;
  bool http1_only_;
  net::Connector::AttemptPtr attempt_;
  std::unique_ptr<tls::TlsTransport> handshaking_;
  net::MemberTimer<OriginConnect, &OriginConnect::on_timeout> deadline_;
};

}  // namespace titanium::proxy
