// SPDX-License-Identifier: MIT
#include "proxy/worker.h"

#include <utility>

#include "proxy/client/client_greeting.h"
#include "proxy/client/client_handshake.h"
#include "proxy/client/http1_client_session.h"
#include "proxy/client/http2_client_session.h"
#include "proxy/origin/http1_origin_connection.h"

namespace titanium::proxy {
namespace {

constexpr Error kTooManyClients{.code = Code::unavailable,
                                .side = Side::self,
                                .status = 503,
                                .what = "too many clients (maxConcurrentClients)"};

net::Resolver::Options resolver_options(const ServerOptions& options) {
  net::Resolver::Options resolver;
  resolver.server = options.dns_server;
  return resolver;
}

}  // namespace

// Takes the connections of one listener in.
class Worker::Acceptor final : private net::AcceptHandler {
 public:
  Acceptor(Worker& worker, std::size_t index, net::FileDescriptor socket)
      : worker_(worker),
        index_(index),
        listener_(worker.loop_, std::move(socket), *this, worker.options_.logger) {}

  void close() noexcept { listener_.close(); }

 private:
  void on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) override {
    const ListenerOptions& options = worker_.options_.listeners[index_];
    // The socket options were inherited from the listening socket.
    auto transport = net::make_tcp_transport(worker_.loop_, std::move(socket), peer,
                                             {.no_delay = false, .keep_alive = false});
    auto ticket = AdmissionTicket::take(worker_.admission_, index_,
                                        worker_.options_.limits.concurrent_clients,
                                        options.concurrent_clients);
    if (!ticket) return refuse(std::move(transport), options);
    if (options.tls == nullptr) {
      return worker_.start_session(std::move(transport), index_, *std::move(ticket));
    }
    worker_.add(std::make_unique<ClientHandshake>(worker_, std::move(transport), options.tls,
                                                  index_, *std::move(ticket)));
  }

  void refuse(std::unique_ptr<net::Transport> transport, const ListenerOptions& options) {
    const auto suppressed = refusals_.pass(worker_.loop_.now());
    if (suppressed) {
      worker_.logger().log(LogLevel::warning,
                           "client refused: too many connections (maxConcurrentClients); {} more "
                           "since the last such line",
                           *suppressed);
    }
    if (options.tls != nullptr) {
      // A handshake for the sake of a refusal is what an overloaded server can least afford.
      return transport->abort_on_close();
    }
    worker_.start_session(std::move(transport), index_, {}, &kTooManyClients);
  }

  Worker& worker_;
  std::size_t index_;
  RateLimited refusals_;
  net::TcpListener listener_;
};

Worker::Worker(const ServerOptions& options, std::vector<net::FileDescriptor> sockets,
               AdmissionCounters& admission)
    : options_(options),
      admission_(admission),
      resolver_(loop_, resolver_options(options)),
      connector_(loop_, resolver_),
      forwarding_(options.forwarding),
      scratch_(chunks_) {
  for (std::size_t i = 0; i < options.listeners.size(); ++i) {
    routers_.push_back(options.make_router(i, options.endpoints));
  }
  for (const OriginEndpoint& endpoint : options.endpoints) {
    pools_.push_back(std::make_unique<OriginPool>(*this, endpoint));
  }
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    acceptors_.push_back(std::make_unique<Acceptor>(*this, i, std::move(sockets[i])));
  }
}

Worker::~Worker() {
  acceptors_.clear();
  while (ClientConnection* connection = connections_.pop_front()) {
    connection->doom();
    delete connection;
  }
  while (Exchange* exchange = spare_exchanges_.pop_front()) delete exchange;
}

void Worker::run() { loop_.run(); }

void Worker::drain() {
  draining_ = true;
  for (auto& acceptor : acceptors_) acceptor->close();
  for (auto& pool : pools_) pool->drain();
  connections_.for_each([](ClientConnection& connection) { connection.drain(); });
  stop_if_drained();
}

void Worker::stop_if_drained() {
  if (draining_ && connections_.empty()) loop_.stop();
}

Exchange& Worker::take_exchange() {
  Exchange* exchange = spare_exchanges_.pop_front();
  if (exchange == nullptr) return *new Exchange(*this);  // Owned by the borrower until given back.
  --spare_count_;
  return *exchange;
}

void Worker::give_back(Exchange& exchange) {
  exchange.clear();
  if (spare_count_ >= kKeptExchanges) {
    delete &exchange;
    return;
  }
  ++spare_count_;
  spare_exchanges_.push_front(exchange);
}

void Worker::add(std::unique_ptr<ClientConnection> connection) {
  connections_.push_back(*connection.release());
}

void Worker::remove(ClientConnection& connection) {
  if (connection.is_doomed()) return;
  connection.doom();
  connection.unlink();
  loop_.destroy_later(std::unique_ptr<ClientConnection>(&connection));
  stop_if_drained();
}

ClientInfo Worker::info_of(const net::Transport& transport, std::size_t listener) const {
  return {.router = routers_[listener].get(),
          .ip = transport.peer_address().ip(),
          .encrypted = transport.is_encrypted()};
}

void Worker::start_session(std::unique_ptr<net::Transport> transport, std::size_t listener,
                           AdmissionTicket ticket, const Error* refuse) {
  if (transport->alpn() == "h2") {
    return start_http2(std::move(transport), listener, std::move(ticket), InputBuffer(chunks_));
  }
  const bool may_be_http2 = options_.listeners[listener].http2 && !transport->is_encrypted();
  if (!may_be_http2 || refuse != nullptr) {
    return start_http1(std::move(transport), listener, std::move(ticket), InputBuffer(chunks_),
                       refuse);
  }
  auto greeting =
      std::make_unique<ClientGreeting>(*this, std::move(transport), listener, std::move(ticket));
  ClientGreeting& started = *greeting;
  add(std::move(greeting));
  if (draining_) started.drain();
}

void Worker::start_http1(std::unique_ptr<net::Transport> transport, std::size_t listener,
                         AdmissionTicket ticket, InputBuffer received, const Error* refuse) {
  ClientInfo info = info_of(*transport, listener);
  auto session = std::make_unique<Http1ClientSession>(
      *this, std::move(transport), std::move(received), std::move(info), std::move(ticket));
  Http1ClientSession& started = *session;
  add(std::move(session));
  started.start(refuse);
  if (draining_) started.drain();
}

void Worker::start_http2(std::unique_ptr<net::Transport> transport, std::size_t listener,
                         AdmissionTicket ticket, InputBuffer received) {
  ClientInfo info = info_of(*transport, listener);
  auto session = std::make_unique<Http2ClientSession>(
      *this, std::move(transport), std::move(received), std::move(info), std::move(ticket));
  Http2ClientSession& started = *session;
  add(std::move(session));
  started.start();
  if (draining_) started.drain();
}

}  // namespace titanium::proxy
