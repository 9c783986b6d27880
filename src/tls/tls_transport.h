// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "net/event_loop.h"
#include "net/transport.h"
#include "tls/context.h"

namespace titanium::tls {

class HandshakeHandler {
 public:
  // Ok: the transport carries application data now. Error: `protocol` or `closed` with the side of
  // the peer; `what` names the reason in words for a human, e.g. "certificate has expired";
  // detail() of the transport says more. The transport may be destroyed with destroy_later() here.
  virtual void on_handshake(Result<> result) = 0;

 protected:
  ~HandshakeHandler() = default;
};

// TLS over another transport. Records are read from, and written to, chunk queues: the inner
// transport is called once per turn for all records, and an idle connection holds no buffer of ours
// and none of OpenSSL's (SSL_MODE_RELEASE_BUFFERS).
//
// Before the handshake is done, read() says would_block and write() takes nothing.
class TlsTransport : public net::Transport {
 public:
  // RFC 8446 §6.1 alerts, SNI and so on for humans; e.g. the OpenSSL error string. Empty if none.
  [[nodiscard]] virtual std::string detail() const = 0;
  // The name that the client asked for (SNI), server side only.
  [[nodiscard]] virtual std::string_view server_name() const noexcept = 0;
  [[nodiscard]] virtual std::string_view version() const noexcept = 0;  // "TLSv1.3"
  [[nodiscard]] virtual std::string_view group() const noexcept = 0;    // "X25519MLKEM768"
  [[nodiscard]] virtual std::string_view cipher() const noexcept = 0;
  [[nodiscard]] virtual bool resumed() const noexcept = 0;
};

// The handshake starts at once and goes on by itself; `handler` is told its end, never from within
// this call. The caller applies the deadline (by destroying the transport).
[[nodiscard]] std::unique_ptr<TlsTransport> make_tls_server(
    net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
    std::shared_ptr<const ServerContext> context, HandshakeHandler& handler);

// `server_name` goes into SNI (unless it is an IP address) and is what the certificate must be for.
[[nodiscard]] std::unique_ptr<TlsTransport> make_tls_client(
    net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
    std::shared_ptr<const ClientContext> context, std::string_view server_name,
    HandshakeHandler& handler);

}  // namespace titanium::tls
