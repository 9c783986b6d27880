// SPDX-License-Identifier: MIT
#include "origin/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "http2/frames/frame.h"
#include "net/bound.h"
#include "service/service.h"
#include "tls/tls_transport.h"

namespace titanium::probe {
namespace {

constexpr std::uint32_t kScratchBytes = 128 * 1024;

Slice make_scratch(ChunkPool& pool) {
  return {.chunk = ChunkRef(pool.take_large(kScratchBytes)), .begin = 0, .end = kScratchBytes};
}

}  // namespace

class OriginServer::Listener final : private net::AcceptHandler {
 public:
  Listener(OriginServer& server, net::FileDescriptor socket,
           std::shared_ptr<const tls::ServerContext> tls)
      : server_(server),
        tls_(std::move(tls)),
        listener_(server.loop_, std::move(socket), *this, Logger{}) {}
  [[nodiscard]] std::uint16_t port() const noexcept { return listener_.local_address().port(); }

 private:
  void on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) override;

  OriginServer& server_;
  std::shared_ptr<const tls::ServerContext> tls_;  // Shared with its connections.
  net::TcpListener listener_;
};

// A TLS connection that does not know its protocol yet.
class OriginServer::Handshake final : private tls::HandshakeHandler {
 public:
  Handshake(OriginServer& server, std::unique_ptr<net::Transport> inner,
            std::shared_ptr<const tls::ServerContext> tls)
      : server_(server),
        transport_(tls::make_tls_server(server.loop_, server.pool_, std::move(inner),
                                        std::move(tls), *this)),
        deadline_(server.loop_, *this) {
    deadline_.arm(kDeadline);
  }

 private:
  static constexpr net::Duration kDeadline{10'000};

  void on_handshake(Result<> result) override {
    if (result) {
      const Speaks version = transport_->alpn() == "h2" ? Speaks::http2 : Speaks::http1;
      server_.add_session(std::move(transport_), version, {});
    } else {
      server_.loop_.destroy_later(std::move(transport_));
    }
    server_.remove_handshake(*this);
  }
  void on_deadline() {
    transport_->abort_on_close();
    server_.loop_.destroy_later(std::move(transport_));
    server_.remove_handshake(*this);
  }

  OriginServer& server_;
  std::unique_ptr<tls::TlsTransport> transport_;
  net::MemberTimer<Handshake, &Handshake::on_deadline> deadline_;
};

// A clear connection whose first bytes tell its protocol (RFC 9113 §3.3).
class OriginServer::Greeting final : private net::TransportHandler {
 public:
  Greeting(OriginServer& server, std::unique_ptr<net::Transport> transport)
      : server_(server), transport_(std::move(transport)) {
    transport_->set_handler(this);
  }
  ~Greeting() {
    if (transport_ != nullptr) transport_->set_handler(nullptr);
  }

 private:
  void on_readable() override {
    const std::span room(server_.scratch_.chunk->data(), server_.scratch_.size());
    while (transport_ != nullptr) {
      const net::ReadResult result = transport_->read(room);
      if (result.status == net::ReadResult::Status::would_block) return;
      if (result.status != net::ReadResult::Status::bytes) return end();
      received_.append(as_text(room.first(result.bytes)));
      judge();
    }
  }
  void on_writable() override {}
  void judge() {
    const std::string_view preface = http2::kPreface;
    const std::size_t known = std::min(received_.size(), preface.size());
    const bool http2 = received_.starts_with(preface.substr(0, known));
    if (http2 && known < preface.size()) return;
    transport_->set_handler(nullptr);
    server_.add_session(std::move(transport_), http2 ? Speaks::http2 : Speaks::http1, received_);
    server_.remove_greeting(*this);
  }
  void end() {
    transport_->set_handler(nullptr);
    server_.loop_.destroy_later(std::move(transport_));
    server_.remove_greeting(*this);
  }

  OriginServer& server_;
  std::unique_ptr<net::Transport> transport_;
  std::string received_;
};

void OriginServer::Listener::on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) {
  auto transport = net::make_tcp_transport(server_.loop_, std::move(socket), peer,
                                           {.no_delay = false, .keep_alive = false});
  if (tls_ == nullptr && server_.h2c_) {
    auto greeting = std::make_unique<Greeting>(server_, std::move(transport));
    server_.greetings_.emplace(greeting.get(), std::move(greeting));
    return;
  }
  if (tls_ == nullptr) return server_.add_session(std::move(transport), Speaks::http1, {});
  auto handshake = std::make_unique<Handshake>(server_, std::move(transport), tls_);
  server_.handshakes_.emplace(handshake.get(), std::move(handshake));
}

OriginServer::OriginServer(net::EventLoop& loop)
    : loop_(loop),
      pattern_(make_pattern_slice(pool_)),
      scratch_(make_scratch(pool_)),
      shared_{.loop = loop,
              .pool = pool_,
              .owner = *this,
              .answers = answers_,
              .pattern = pattern_,
              .scratch = scratch_} {}

OriginServer::~OriginServer() {
  http_.reset();
  https_.reset();
  handshakes_.clear();
  greetings_.clear();
  sessions_.clear();
  // Connections that ended in this turn still hold chunks; they go at the end of one.
  loop_.run_once(net::Duration(0));
}

tls::LoadResult<std::unique_ptr<OriginServer>> OriginServer::create(net::EventLoop& loop,
                                                                    const OriginOptions& options) {
  std::unique_ptr<OriginServer> server(new OriginServer(loop));
  server->h2c_ = options.h2c;
  auto http = server->listen(options.http_port, nullptr);
  if (!http) return std::unexpected(http.error());
  server->http_ = std::move(*http);
  if (!options.https) return server;

  auto key_pair = tls::load_key_pair(options.certificate_file, options.key_file, {});
  if (!key_pair) return std::unexpected(key_pair.error());
  tls::ServerOptions tls{.key_pairs = {std::move(*key_pair)}};
  if (options.https_http2) tls.alpn.insert(tls.alpn.begin(), "h2");
  auto context = tls::ServerContext::create(tls);
  if (!context) return std::unexpected(context.error());
  auto https = server->listen(options.https_port, std::move(*context));
  if (!https) return std::unexpected(https.error());
  server->https_ = std::move(*https);
  return server;
}

tls::LoadResult<std::unique_ptr<OriginServer::Listener>> OriginServer::listen(
    std::uint16_t port, std::shared_ptr<const tls::ServerContext> tls) {
  const auto address = *net::SocketAddress::parse("127.0.0.1", port);
  auto socket = net::listen_tcp(
      address,
      {.backlog = 4096, .reuse_port = false, .accepted = {.no_delay = true, .keep_alive = false}});
  if (!socket) {
    return std::unexpected(
        tls::LoadError{fmt::format("{}: {}", address.to_string(), socket.error().what)});
  }
  return std::make_unique<Listener>(*this, std::move(*socket), std::move(tls));
}

void OriginServer::add_session(std::unique_ptr<net::Transport> transport, Speaks version,
                               std::string_view received) {
  auto session = version == Speaks::http2 ? make_http2_session(shared_, std::move(transport))
                                          : make_http1_session(shared_, std::move(transport));
  OriginSession& added = *session;
  sessions_.emplace(&added, std::move(session));
  added.start(received);
}

void OriginServer::remove_greeting(Greeting& greeting) {
  const auto found = greetings_.find(&greeting);
  if (found == greetings_.end()) return;
  loop_.destroy_later(std::move(found->second));
  greetings_.erase(found);
}

void OriginServer::remove_handshake(Handshake& handshake) {
  const auto found = handshakes_.find(&handshake);
  if (found == handshakes_.end()) return;
  loop_.destroy_later(std::move(found->second));
  handshakes_.erase(found);
}

void OriginServer::remove(OriginSession& session) {
  const auto found = sessions_.find(&session);
  if (found == sessions_.end()) return;
  loop_.destroy_later(std::move(found->second));
  sessions_.erase(found);
}

std::uint16_t OriginServer::http_port() const noexcept { return http_->port(); }
std::uint16_t OriginServer::https_port() const noexcept { return https_ ? https_->port() : 0; }

int serve_origin(const OriginOptions& options) {
  net::FileDescriptor signals = open_shutdown_signals();
  net::EventLoop loop;
  const StopOnSignal stop(loop, std::move(signals));
  const auto server = OriginServer::create(loop, options);
  if (!server) {
    std::fprintf(stderr, "origin: %s\n", server.error().what.c_str());
    return 1;
  }
  print_ready(fmt::format("http={} https={}", (*server)->http_port(), (*server)->https_port()));
  loop.run();
  return 0;
}

}  // namespace titanium::probe
