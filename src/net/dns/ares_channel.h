// SPDX-License-Identifier: MIT
//
// Internal to net: c-ares on the event loop, behind our types.
#pragma once

#include <ares.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "net/address.h"
#include "net/dns/resolver.h"
#include "net/event_loop.h"

namespace titanium::net {

struct NameAnswer {
  Result<std::vector<SocketAddress>> addresses;  // Without port.
  std::chrono::seconds ttl{0};                   // As the servers said; 0 from the hosts file.
};

class NameReceiver {
 public:
  // Called from within c-ares: must not call the channel, nor anybody who might.
  virtual void on_answer(NameAnswer answer) = 0;

 protected:
  ~NameReceiver() = default;
};

// Owns a c-ares channel, watches its sockets and keeps its timer.
class AresChannel final : private TimerHandler, private Deferred {
 public:
  AresChannel(EventLoop& loop, const Resolver::Options& options);
  // Queries that are still open get an answer (a failure) from here.
  ~AresChannel();

  // The receiver is told once, maybe from within this call.
  void look_up(const std::string& name, NameReceiver& receiver);

 private:
  class Socket;
  struct ChannelDelete {
    void operator()(ares_channel_t* channel) const noexcept { ares_destroy(channel); }
  };

  static void on_socket_state(void* self, ares_socket_t fd, int readable, int writable);
  static void on_addresses(void* receiver, int status, int timeouts, ares_addrinfo* answer);

  void on_timer(Timer& timer) override;
  void on_turn_end() override;
  void process(ares_socket_t readable, ares_socket_t writable);
  void set_interest(ares_socket_t fd, bool readable, bool writable);
  void rearm();

  EventLoop& loop_;
  Timer timer_;
  std::unordered_map<ares_socket_t, std::unique_ptr<Socket>> sockets_;
  // Destroyed first, for it still reports socket states then.
  std::unique_ptr<ares_channel_t, ChannelDelete> channel_;
};

}  // namespace titanium::net
