// SPDX-License-Identifier: MIT
//
// A connected byte stream, clear (TcpTransport) or encrypted (tls::TlsTransport), as the sessions
// above see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/chunk.h"
#include "base/error.h"
#include "net/address.h"

namespace titanium::net {

// Told by a transport on its loop's thread. A handler may destroy the transport only through
// EventLoop::destroy_later().
class TransportHandler {
 public:
  // read() may bring something new: bytes, the end, or an error.
  virtual void on_readable() = 0;
  // After a write() that left bytes behind, with its caller or as unsent_bytes(): they went down
  // far enough for another write. Also once the end that shutdown_write() asked for is out, where
  // that could not be at once.
  virtual void on_writable() = 0;

 protected:
  ~TransportHandler() = default;
};

struct ReadResult {
  enum class Status : std::uint8_t {
    bytes,        // `bytes` > 0 were read. Less than asked for does not mean that there is no more:
                  // call again until another status comes.
    would_block,  // Nothing now; on_readable() follows.
    end,          // The peer ended its direction in an orderly way (FIN; with TLS: close_notify).
    truncated,    // TLS only: FIN without close_notify (RFC 8446 §6.1). An attacker can forge it.
    failed,       // RST and the like: `error`. The transport is dead in both directions.
  };
  Status status = Status::would_block;
  std::size_t bytes = 0;
  Error error{};
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual void set_handler(TransportHandler* handler) noexcept = 0;

  // Reads into `into` (not empty). Avoids the system call that would only say "nothing more":
  // would_block is answered from memory after a short read.
  [[nodiscard]] virtual ReadResult read(std::span<std::uint8_t> into) = 0;

  // Takes as many bytes off `from` as can be written now. Ok and !from.empty(): the rest has to
  // wait for on_writable(). An error means that the transport is dead.
  [[nodiscard]] virtual Result<> write(ChunkQueue& from) = 0;

  // Ends our direction once everything that write() took is out: FIN; with TLS: close_notify first.
  // Reading goes on.
  virtual void shutdown_write() = 0;

  // The connection is closed hard (RST) when the transport is destroyed, so that the peer sees that
  // the message is incomplete. Else destruction closes quietly.
  virtual void abort_on_close() noexcept = 0;

  // True if the peer has closed, reset, or sent anything: then an idle connection is not to be
  // reused. One system call; consumes nothing.
  [[nodiscard]] virtual bool is_stale() = 0;

  // Bytes that write() took but the socket has not (TLS records, with TCP always 0).
  [[nodiscard]] virtual std::size_t unsent_bytes() const noexcept = 0;

  [[nodiscard]] virtual const SocketAddress& peer_address() const noexcept = 0;
  [[nodiscard]] virtual const SocketAddress& local_address() const noexcept = 0;
  // The protocol that ALPN chose; empty if none (or no TLS).
  [[nodiscard]] virtual std::string_view alpn() const noexcept = 0;
  [[nodiscard]] virtual bool is_encrypted() const noexcept = 0;
};

}  // namespace titanium::net
