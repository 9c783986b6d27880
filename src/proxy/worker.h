// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/chunk.h"
#include "base/intrusive_list.h"
#include "base/log.h"
#include "base/rate_limited.h"
#include "http/date.h"
#include "net/connector.h"
#include "net/dns/resolver.h"
#include "net/event_loop.h"
#include "net/tcp.h"
#include "proxy/admission.h"
#include "proxy/client/client_connection.h"
#include "proxy/exchange.h"
#include "proxy/forwarding.h"
#include "proxy/input_buffer.h"
#include "proxy/options.h"
#include "proxy/origin/origin_pool.h"

namespace titanium::proxy {

// One thread's share of the proxy: its loop, memory, pools, listeners and sessions. Nothing of it
// is touched by another thread, but through loop().post().
class Worker {
 public:
  // `sockets` are listening sockets, one per listener of `options`.
  Worker(const ServerOptions& options, std::vector<net::FileDescriptor> sockets,
         AdmissionCounters& admission);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Serves until the loop is stopped.
  void run();

  // On the worker's thread: accepts no more, closes what is idle, stops the loop when the last
  // connection has gone.
  void drain();

  // ---- What sessions and exchanges use.

  [[nodiscard]] net::EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] ChunkPool& chunks() noexcept { return chunks_; }
  [[nodiscard]] net::Connector& connector() noexcept { return connector_; }
  [[nodiscard]] const ServerOptions& options() const noexcept { return options_; }
  [[nodiscard]] const ForwardingRules& forwarding() const noexcept { return forwarding_; }
  [[nodiscard]] const Logger& logger() const noexcept { return options_.logger; }
  [[nodiscard]] std::string_view date() noexcept { return date_.at(loop_.wall_seconds()); }
  [[nodiscard]] OriginPool& pool(const OriginEndpoint& endpoint) noexcept {
    return *pools_[endpoint.index];
  }
  // An HTTP/2 peer broke the rules: how many lines about that were suppressed, or nullopt: stay
  // silent about this one. Clients can not hide what there is to say of origins.
  [[nodiscard]] std::optional<std::uint64_t> http2_fault_to_log(Side peer) {
    return (peer == Side::client ? client_faults_ : origin_faults_).pass(loop_.now());
  }
  // Request bytes that an exchange wants to keep until its response begins, so that it can send
  // them again. False: all exchanges together keep too many already.
  [[nodiscard]] bool keep_for_replay(std::size_t bytes) noexcept {
    if (bytes > kReplayBytes - replay_bytes_) return false;
    replay_bytes_ += bytes;
    return true;
  }
  void forget_replay(std::size_t bytes) noexcept { replay_bytes_ -= bytes; }
  // For decoding; both are empty between two uses.
  [[nodiscard]] ChunkQueue& scratch() noexcept { return scratch_; }
  [[nodiscard]] http::FieldList& trailers() noexcept { return trailers_; }

  // An exchange that is ready for use, and back when it is over.
  [[nodiscard]] Exchange& take_exchange();
  void give_back(Exchange& exchange);

  // Replaces a handshake by the session it led to, or ends a connection at the end of the turn.
  void add(std::unique_ptr<ClientConnection> connection);
  void remove(ClientConnection& connection);

  // Makes the session for a connection that is ready for HTTP, of the version that ALPN chose or
  // that the client begins with. With `refuse`, that error is all it will answer.
  void start_session(std::unique_ptr<net::Transport> transport, std::size_t listener,
                     AdmissionTicket ticket, const Error* refuse = nullptr);
  // The same, once the version is known; `received` was read already.
  void start_http1(std::unique_ptr<net::Transport> transport, std::size_t listener,
                   AdmissionTicket ticket, InputBuffer received, const Error* refuse = nullptr);
  void start_http2(std::unique_ptr<net::Transport> transport, std::size_t listener,
                   AdmissionTicket ticket, InputBuffer received);

 private:
  class Acceptor;
  // Exchanges kept for reuse.
  static constexpr std::size_t kKeptExchanges = 1024;
  // What keep_for_replay() allows: the whole body of 128 exchanges at least.
  static constexpr std::size_t kReplayBytes = 8 * 1024 * 1024;

  void stop_if_drained();
  [[nodiscard]] ClientInfo info_of(const net::Transport& transport, std::size_t listener) const;

  const ServerOptions& options_;
  AdmissionCounters& admission_;
  ChunkPool chunks_;  // Before everything that holds chunks.
  net::EventLoop loop_;
  net::Resolver resolver_;
  net::Connector connector_;
  ForwardingRules forwarding_;
  http::DateCache date_;
  ChunkQueue scratch_;
  http::FieldList trailers_;
  std::vector<std::unique_ptr<Router>> routers_;
  IntrusiveList<Exchange> spare_exchanges_;
  std::size_t spare_count_ = 0;
  std::vector<std::unique_ptr<OriginPool>> pools_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  IntrusiveList<ClientConnection> connections_;
  RateLimited client_faults_;
  RateLimited origin_faults_;
  std::size_t replay_bytes_ = 0;
  bool draining_ = false;
};

}  // namespace titanium::proxy
