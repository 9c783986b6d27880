// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "base/rate_limited.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/file_descriptor.h"
#include "net/transport.h"

namespace titanium::net {

struct SocketOptions {
  bool no_delay = true;
  bool keep_alive = true;
};

// A connected TCP socket on a loop. The handler may be set later; what happened before is reported
// then, at the end of the turn.
[[nodiscard]] std::unique_ptr<Transport> make_tcp_transport(EventLoop& loop, FileDescriptor socket,
                                                            const SocketAddress& peer,
                                                            const SocketOptions& options);

struct ListenOptions {
  int backlog = 1024;
  bool reuse_port = true;  // Several workers listen on the same address, the kernel spreads.
  // Linux hands these down to the accepted sockets: whoever makes a transport of them need not pay
  // for setting them again.
  SocketOptions accepted{};
};

// Opens a listening socket. Errors: `config` with errno as native. Port 0 takes a free one; read it
// with local_address_of().
//
// With `reuse_port` a port that another process listens on is still an error (EADDRINUSE):
// SO_REUSEPORT alone would let two processes of the same user share it silently, each getting half
// of the connections. Sharing is allowed only among the sockets of this process.
[[nodiscard]] Result<FileDescriptor> listen_tcp(const SocketAddress& address,
                                                const ListenOptions& options);
[[nodiscard]] SocketAddress local_address_of(int fd);

// "nginx (pid 1234)" of the process that listens on this local port, as far as /proc tells us;
// empty if unknown. For the message about a taken port.
[[nodiscard]] std::string owner_of_listening_port(const SocketAddress& address);

class AcceptHandler {
 public:
  // Takes over a new connection. The socket is non-blocking already. May call close() and pause();
  // destroys the listener only through EventLoop::destroy_later().
  virtual void on_accept(FileDescriptor socket, const SocketAddress& peer) = 0;

 protected:
  ~AcceptHandler() = default;
};

// Accepts connections from a listening socket. When descriptors (or memory) run out it pauses, says
// so once per 10 s, and goes on by itself: it tries again after kPause.
class TcpListener final : public IoHandler, private TimerHandler, private Deferred {
 public:
  static constexpr Duration kPause{100};
  // Connections accepted in one turn; the rest waits, so that a flood of connections cannot starve
  // the connections that exist.
  static constexpr int kBatch = 64;

  TcpListener(EventLoop& loop, FileDescriptor socket, AcceptHandler& handler, Logger logger);
  ~TcpListener();

  // No new connections from now on; those in the backlog are reset when the socket is closed.
  void close() noexcept;
  // Stops (starts) accepting, e.g. at the connection limit; the backlog keeps what comes.
  void pause() noexcept;
  void resume();

  [[nodiscard]] const SocketAddress& local_address() const noexcept { return local_; }

 private:
  void on_ready(Readiness ready) override;
  void on_timer(Timer& timer) override;
  void on_turn_end() override;
  void accept_batch();
  void wait_for_resources(int error);
  [[nodiscard]] bool may_accept() const noexcept;

  EventLoop& loop_;
  FileDescriptor socket_;
  AcceptHandler& handler_;
  Logger logger_;
  SocketAddress local_;
  Timer retry_;  // Armed while descriptors are lacking.
  RateLimited exhausted_;
  bool watched_ = false;
  bool paused_ = false;
  // Edge-triggered: what is in the backlog is not reported again, so it has to be remembered.
  bool pending_ = false;
};

}  // namespace titanium::net
