// SPDX-License-Identifier: MIT
#include "control/server.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "control/relay.h"
#include "service/service.h"

namespace titanium::probe {
namespace control {
namespace {

// All listening sockets share one port; the kernel spreads the connections.
net::FileDescriptor open_listening(std::uint16_t& port) {
  net::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
      ::bind(socket.get(), raw, length) != 0 || ::listen(socket.get(), 4096) != 0 ||
      ::getsockname(socket.get(), raw, &length) != 0) {
    return {};
  }
  port = ntohs(address.sin_port);
  return socket;
}

// OpenSSL keeps a pointer into it.
constexpr unsigned char kProtocol[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

// HTTP/1.1 or nothing.
int choose_alpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                const unsigned char* offered, unsigned int offered_length, void* /*argument*/) {
  unsigned char* chosen = nullptr;
  const int outcome = SSL_select_next_proto(&chosen, out_length, kProtocol, sizeof kProtocol,
                                            offered, offered_length);
  *out = chosen;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

std::expected<std::unique_ptr<Server>, std::string> Server::start(const ControlOptions& options) {
  std::unique_ptr<Server> server(new Server(options));
  if (!options.certificate_file.empty() && !server->load_certificate()) {
    return std::unexpected("the certificate or its key cannot be used");
  }
  if (!server->listen()) return std::unexpected(std::string(std::strerror(errno)));
  for (const auto& worker : server->workers_) {
    server->threads_.emplace_back([&run = *worker] { run.run(); });
  }
  return server;
}

Server::~Server() {
  for (const auto& worker : workers_) worker->stop();
  threads_.clear();
}

bool Server::load_certificate() {
  context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = context_.get();
  if (context == nullptr ||
      SSL_CTX_use_certificate_chain_file(context, options_.certificate_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, options_.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return false;
  }
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_select_cb(context, choose_alpn, nullptr);
  return true;
}

bool Server::listen() {
  port_ = options_.port;
  for (std::size_t i = 0; i < kWorkers; ++i) {
    net::FileDescriptor socket = open_listening(port_);
    if (!socket) return false;
    add_worker(std::move(socket));
  }
  return true;
}

SslHandle Server::make_tls() const {
  if (context_ == nullptr) return nullptr;
  SslHandle tls(SSL_new(context_.get()));
  if (tls != nullptr) SSL_set_accept_state(tls.get());
  return tls;
}

void Server::add_worker(net::FileDescriptor listening) {
  pools_.push_back(std::make_unique<OriginPool>(options_.origin_port));
  OriginPool& pool = *pools_.back();
  workers_.push_back(std::make_unique<Worker>(
      std::move(listening),
      [this, &pool](Worker& worker, net::FileDescriptor client) -> std::unique_ptr<Session> {
        if (options_.kind == ControlOptions::Kind::relay) {
          return Relay::make(worker, std::move(client), make_tls(), options_.origin_port);
        }
        return std::make_unique<Reverse>(worker, pool, std::move(client), make_tls());
      }));
}

}  // namespace control

int serve_control(const ControlOptions& options) {
  const net::FileDescriptor signals = open_shutdown_signals();
  const auto server = control::Server::start(options);
  if (!server) {
    std::fprintf(stderr, "control: %s\n", server.error().c_str());
    return 1;
  }
  print_ready("port=" + std::to_string((*server)->port()));
  pollfd wait{.fd = signals.get(), .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
  }
  return 0;
}

}  // namespace titanium::probe
