// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "net/bound.h"
#include "net/transport.h"
#include "proxy/client/client_connection.h"
#include "proxy/input_buffer.h"

namespace titanium::proxy {

class Worker;

// A client on a clear connection that has not said yet which version it speaks. Becomes a session
// with its first bytes: HTTP/2 if they are its preface (RFC 9113 §3.3, prior knowledge), or an
// attempt at one, which ends in GOAWAY; else HTTP/1. An upgrade to h2c is not offered: RFC 9113
// §3.1 has dropped it.
class ClientGreeting final : public ClientConnection, private net::TransportHandler {
 public:
  ClientGreeting(Worker& worker, std::unique_ptr<net::Transport> transport, std::size_t listener,
                 AdmissionTicket ticket);
  ~ClientGreeting() override;

  void drain() override;

 private:
  enum class Speaks : std::uint8_t { unclear, http1, http2 };

  void on_readable() override;
  void on_writable() override {}
  void on_timeout();
  [[nodiscard]] Speaks judge() const noexcept;
  void become(Speaks version);

  Worker& worker_;
  std::unique_ptr<net::Transport> transport_;
  std::size_t listener_;
  InputBuffer input_;
  net::MemberTimer<ClientGreeting, &ClientGreeting::on_timeout> deadline_;
};

}  // namespace titanium::proxy
