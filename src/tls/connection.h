// SPDX-License-Identifier: MIT
//
// The one implementation of TlsTransport, for both roles. connection.cc has the life after the
// handshake, handshake.cc the time before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/event_loop.h"
#include "tls/client_context.h"
#include "tls/record_io.h"
#include "tls/server_context.h"
#include "tls/tls_transport.h"

namespace titanium::tls {

class Connection final : public TlsTransport,
                         private net::TransportHandler,
                         private net::Deferred,
                         private SessionReceiver {
 public:
  // Plain bytes of one record (RFC 8446 §5.1).
  static constexpr std::size_t kRecordBytes = 16 * 1024;
  // A queued slice smaller than this is joined with its neighbours into one record.
  static constexpr std::size_t kSmallSliceBytes = 4 * 1024;
  // Records are handed to the inner transport before the end of the turn when there are so many.
  static constexpr std::size_t kFlushBytes = 64 * 1024;
  // write() takes nothing while this much waits for a slow peer.
  static constexpr std::size_t kBacklogBytes = 128 * 1024;
  // A writer that left more than this waiting is told on_writable() once it is gone down to it.
  static constexpr std::size_t kNotifyBytes = 16 * 1024;
  // What the peer may send during the handshake, and later between two bytes of data: session
  // tickets, key updates and alerts are small and rare.
  static constexpr std::size_t kHandshakeBudgetBytes = 256 * 1024;
  static constexpr std::size_t kControlBudgetBytes = 64 * 1024;

  // Exactly one of the contexts is given; it decides the role.
  Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
             std::shared_ptr<const ServerContext> server, HandshakeHandler& handler);
  Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
             std::shared_ptr<const ClientContext> client, std::string_view server_name,
             HandshakeHandler& handler);
  ~Connection() override;

  void set_handler(net::TransportHandler* handler) noexcept override;
  [[nodiscard]] net::ReadResult read(std::span<std::uint8_t> into) override;
  [[nodiscard]] Result<> write(ChunkQueue& from) override;
  void shutdown_write() override;
  void abort_on_close() noexcept override;
  [[nodiscard]] bool is_stale() override;
  [[nodiscard]] std::size_t unsent_bytes() const noexcept override;
  [[nodiscard]] const net::SocketAddress& peer_address() const noexcept override;
  [[nodiscard]] const net::SocketAddress& local_address() const noexcept override;
  [[nodiscard]] std::string_view alpn() const noexcept override;
  [[nodiscard]] bool is_encrypted() const noexcept override { return true; }

  [[nodiscard]] std::string detail() const override { return detail_; }
  [[nodiscard]] std::string_view server_name() const noexcept override;
  [[nodiscard]] std::string_view version() const noexcept override;
  [[nodiscard]] std::string_view group() const noexcept override;
  [[nodiscard]] std::string_view cipher() const noexcept override;
  [[nodiscard]] bool resumed() const noexcept override;

 private:
  enum class State : std::uint8_t {
    handshaking,
    open,
    failed,  // `error_` says why; nothing is read or written any more.
  };
  // Our direction. Each step waits for the queues before it to be empty.
  enum class Closing : std::uint8_t { no, wanted, notify_queued, done };

  Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
             SSL_CTX* context, Side peer, HandshakeHandler& handler);

  // net::TransportHandler, told by the inner transport.
  void on_readable() override;
  void on_writable() override;
  // net::Deferred.
  void on_turn_end() override;
  // SessionReceiver, told by OpenSSL.
  void on_session(SslSession session) override;
  void on_verify_failure(X509_STORE_CTX* store) override;

  // handshake.cc
  void prepare_client(std::string_view server_name);
  void check_names(const std::string& name);
  void continue_handshake();
  void finish_handshake();
  void fail_handshake(int ssl_error);
  [[nodiscard]] Error handshake_error(int ssl_error);
  void answer_clear_text();
  void report_handshake();
  [[nodiscard]] const ContextBase& context_base() const noexcept;

  // connection.cc
  [[nodiscard]] net::ReadResult after_failed_read(int ssl_error);
  [[nodiscard]] net::ReadResult fail_read(const Error& error);
  void encrypt();
  [[nodiscard]] Bytes next_record(std::span<std::uint8_t, kRecordBytes> scratch) const;
  void flush();
  void fail_writing(const Error& error);
  void notify();
  [[nodiscard]] Error with_side(Error error) const noexcept;
  [[nodiscard]] std::size_t backlog() const noexcept { return plain_.size() + io_.output().size(); }

  net::EventLoop& loop_;
  std::unique_ptr<net::Transport> inner_;
  // Shared with the listener or cluster that made it; the last user of an old configuration frees
  // it.
  std::shared_ptr<const ServerContext> server_context_;
  std::shared_ptr<const ClientContext> client_context_;
  RecordIo io_;
  ChunkQueue plain_;  // What write() took and is not encrypted yet.
  Ssl ssl_;
  HandshakeHandler* handshake_handler_;
  net::TransportHandler* handler_ = nullptr;
  std::string client_server_name_;  // Client only: the key of the session cache.
  std::string detail_;
  std::optional<Error> error_;        // Why the state is `failed`, or why the handshake will be.
  std::optional<Error> write_error_;  // Writing is over; what the peer sent before can be read.
  Side peer_;                         // Who is at the other end.
  State state_ = State::handshaking;
  Closing closing_ = Closing::no;
  bool handshake_over_ = false;  // The handler is to be told.
  bool started_ = false;
  bool abort_ = false;
  bool inner_blocked_ = false;    // The inner transport will say when it takes more.
  bool writer_waits_ = false;     // write() left something behind, here or with the caller.
  bool may_read_ = true;          // read() has not said would_block since the last event.
  bool report_readable_ = false;  // At the end of the turn.
  bool report_writable_ = false;
  std::optional<net::ReadResult::Status> finished_;  // `end` or `truncated`, once read.
};

}  // namespace titanium::tls
