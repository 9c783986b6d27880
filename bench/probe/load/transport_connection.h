// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "load/client_connection.h"
#include "net/bound.h"
#include "net/transport.h"
#include "tls/tls_transport.h"

namespace titanium::probe {

// The part of a connection that is the same for every version of HTTP over TCP: connecting, TLS,
// reading in portions, writing what is queued.
class TransportConnection : public ClientConnection,
                            private net::TransportHandler,
                            private tls::HandshakeHandler,
                            private AlarmHandler {
 protected:
  // What differs from wire to wire.
  struct Traits {
    // A slow consumer leaves bytes in the socket; else it reads all there is, and what is slow is
    // up to the wire (a window of its own per stream).
    bool paced = true;
    std::string_view
        alpn{};  // The peer has to choose it, if there is TLS; empty: whatever it does.
  };
  TransportConnection(const ClientShared& shared, const Traits& traits);
  ~TransportConnection() override;

  [[nodiscard]] bool is_open() const noexcept { return transport_ != nullptr; }
  // Counts connections: whoever compares it with an earlier value sees that what was read then
  // belongs to a connection that is gone.
  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  // Starts to connect. Writing may start at once; it waits for the handshake. False: the kernel
  // refused, and open_error() says why.
  [[nodiscard]] bool open();
  [[nodiscard]] std::string open_error() const;
  // Closes at the end of the turn; from then on nothing of the old connection is reported.
  void close() noexcept;
  void close_hard() noexcept;

  // Hands what is in output() to the kernel, as far as it takes it.
  void flush();
  [[nodiscard]] ChunkQueue& output() noexcept { return output_; }
  // All that was queued has been taken, or nobody takes it any more.
  [[nodiscard]] bool is_sent() const noexcept { return output_.empty(); }
  [[nodiscard]] bool is_write_broken() const noexcept { return write_broken_; }

  // Starts a portion of a slow consumer; no change for others.
  void restart_portion() noexcept;

  // The unread bytes; returns how many were used. The rest comes again, with more behind it. May
  // close (and open again): then the return value does not matter.
  [[nodiscard]] virtual std::size_t consume(std::string_view bytes) = 0;
  // Everything that was queued went out.
  virtual void on_sent() = 0;
  // The peer ended the connection, or it broke. Has to close().
  virtual void on_ended(std::string_view what) = 0;

  const ClientShared& shared_;

 private:
  void on_readable() override { read_all(); }
  void on_writable() override { flush(); }
  void on_handshake(Result<> result) override;
  void on_alarm() override;

  [[nodiscard]] net::FileDescriptor connect_socket() noexcept;
  void read_all();
  // False: the connection is not the one any more that was read from.
  [[nodiscard]] bool deliver(std::string_view bytes);
  void end(std::string_view what, const Error& error);

  const Traits traits_;
  const std::uint32_t portion_bytes_;  // 0: no slow consumer.
  std::unique_ptr<net::Transport> transport_;
  tls::TlsTransport* tls_ = nullptr;  // The same object, if it is TLS.
  ChunkQueue output_;
  std::string pending_;  // Part of a head or a frame.
  std::uint32_t epoch_ = 0;
  int open_errno_ = 0;
  bool write_broken_ = false;
  bool paused_ = false;
  // What a slow consumer may read before its next pause.
  std::size_t portion_ = std::numeric_limits<std::size_t>::max();
  net::MemberDeferred<TransportConnection, &TransportConnection::read_all> read_later_;
};

}  // namespace titanium::probe
