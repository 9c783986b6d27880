// SPDX-License-Identifier: MIT
//
// Internal to net: others get a Transport from make_tcp_transport() or a Connector.
#pragma once

#include <cstdint>

#include "net/event_loop.h"
#include "net/tcp.h"
#include "net/transport.h"

namespace titanium::net {

// A TCP socket as a Transport.
//
// epoll reports each change once, so the transport remembers what it was told: `readable_` and
// `blocked_` are what the kernel would answer. They spare the calls that would only say EAGAIN, and
// let a handler come late or stop reading for a while without losing an event.
class TcpTransport final : public Transport, private IoHandler, private Deferred {
 public:
  // `socket` may still be connecting; see await_connected().
  TcpTransport(EventLoop& loop, FileDescriptor socket, const SocketAddress& peer,
               const SocketOptions& options);
  ~TcpTransport() override;

  // For a socket on which connect(2) was called: on_writable() or on_readable() comes when it is
  // decided; then take_connect_error() is 0 or the errno.
  void await_connected() noexcept { blocked_ = wants_writable_ = true; }
  [[nodiscard]] int take_connect_error() noexcept;

  void set_handler(TransportHandler* handler) noexcept override;
  [[nodiscard]] ReadResult read(std::span<std::uint8_t> into) override;
  [[nodiscard]] Result<> write(ChunkQueue& from) override;
  void shutdown_write() override;
  void abort_on_close() noexcept override { abort_on_close_ = true; }
  [[nodiscard]] bool is_stale() override;
  [[nodiscard]] std::size_t unsent_bytes() const noexcept override { return 0; }
  [[nodiscard]] const SocketAddress& peer_address() const noexcept override { return peer_; }
  [[nodiscard]] const SocketAddress& local_address() const noexcept override;
  [[nodiscard]] std::string_view alpn() const noexcept override { return {}; }
  [[nodiscard]] bool is_encrypted() const noexcept override { return false; }

 private:
  void on_ready(Readiness ready) override;
  void on_turn_end() override { report(); }
  void report();
  void fetch_error() noexcept;
  [[nodiscard]] Error remember_failure(int error) noexcept;

  EventLoop& loop_;
  FileDescriptor socket_;
  TransportHandler* handler_ = nullptr;
  int error_ = 0;                // errno of the failure that ended the connection.
  bool readable_ = false;        // An event said so, and no read has found the end of it yet.
  bool unreported_ = false;      // The handler does not know yet that readable_ is true.
  bool drained_ = false;         // The last read took all there was; no event since.
  bool blocked_ = false;         // The last write filled the socket; no event since.
  bool wants_writable_ = false;  // A write left something behind.
  bool ending_ = false;          // FIN or an error was reported: read on until it shows.
  bool abort_on_close_ = false;
  SocketAddress peer_;
  mutable SocketAddress local_;  // Asked for when somebody wants to know.
};

}  // namespace titanium::net
