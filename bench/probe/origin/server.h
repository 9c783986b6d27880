// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/chunk.h"
#include "net/event_loop.h"
#include "net/tcp.h"
#include "origin/answers.h"
#include "origin/content.h"
#include "origin/origin.h"
#include "origin/session.h"
#include "tls/context.h"

namespace titanium::probe {

// The origin on a loop, for a process of its own (serve_origin) and for tests.
class OriginServer final : private SessionOwner {
 public:
  // Listens. Errors are texts for humans: a taken port, a certificate that cannot be read.
  [[nodiscard]] static tls::LoadResult<std::unique_ptr<OriginServer>> create(
      net::EventLoop& loop, const OriginOptions& options);
  ~OriginServer();

  [[nodiscard]] std::uint16_t http_port() const noexcept;
  [[nodiscard]] std::uint16_t https_port() const noexcept;  // 0: none.

 private:
  class Listener;
  class Handshake;
  class Greeting;

  explicit OriginServer(net::EventLoop& loop);
  [[nodiscard]] tls::LoadResult<std::unique_ptr<Listener>> listen(
      std::uint16_t port, std::shared_ptr<const tls::ServerContext> tls);
  enum class Speaks : std::uint8_t { http1, http2 };
  void add_session(std::unique_ptr<net::Transport> transport, Speaks version,
                   std::string_view received);
  void remove_handshake(Handshake& handshake);
  void remove_greeting(Greeting& greeting);
  void remove(OriginSession& session) override;

  // Declared in the order in which they are needed: the loop, which outlives this, must not be left
  // with chunks of this pool, which the destructor sees to.
  net::EventLoop& loop_;
  ChunkPool pool_;
  Answers answers_;
  Slice pattern_;
  Slice scratch_;
  OriginShared shared_;
  bool h2c_ = false;
  std::unique_ptr<Listener> http_;
  std::unique_ptr<Listener> https_;
  std::unordered_map<Handshake*, std::unique_ptr<Handshake>> handshakes_;
  std::unordered_map<Greeting*, std::unique_ptr<Greeting>> greetings_;
  std::unordered_map<OriginSession*, std::unique_ptr<OriginSession>> sessions_;
};

}  // namespace titanium::probe
