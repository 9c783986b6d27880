// SPDX-License-Identifier: MIT
#include "proxy/server.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "net/tcp.h"
#include "proxy/worker.h"

namespace titanium::proxy {

struct Server::Impl {
  explicit Impl(ServerOptions given)
      : options(std::move(given)), admission(options.listeners.size()) {}

  ServerOptions options;
  AdmissionCounters admission;
  std::vector<net::SocketAddress> addresses;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;
  bool stopped = false;

  void run(Worker& worker) {
    worker.run();
    const std::lock_guard lock(mutex);
    --running;
    changed.notify_all();
  }
  void stop() noexcept {
    const std::lock_guard lock(mutex);
    stopped = true;
    for (auto& worker : workers) worker->loop().stop();
    changed.notify_all();
  }
  void wait() {
    for (auto& thread : threads) {
      if (thread.joinable()) thread.join();
    }
  }
};

namespace {

std::string cannot_listen(const net::SocketAddress& address, const Error& error) {
  std::string text = "cannot listen on " + address.to_string() + ": " + std::strerror(error.native);
  if (error.native == EADDRINUSE) {
    const std::string owner = net::owner_of_listening_port(address);
    if (!owner.empty()) text += "; the port is taken by " + owner;
  } else if (error.native == EACCES) {
    text += "; ports below 1024 need root or CAP_NET_BIND_SERVICE";
  }
  return text;
}

// One socket per worker for each listener: the kernel spreads connections over them. Returns
// sockets[worker][listener].
std::expected<std::vector<std::vector<net::FileDescriptor>>, StartError> open_listeners(
    const ServerOptions& options, unsigned workers, std::vector<net::SocketAddress>& addresses) {
  std::vector<std::vector<net::FileDescriptor>> sockets(workers);
  for (const ListenerOptions& listener : options.listeners) {
    net::SocketAddress address = listener.address;
    for (unsigned worker = 0; worker < workers; ++worker) {
      auto socket =
          net::listen_tcp(address, {.backlog = options.listen_backlog,
                                    .reuse_port = true,
                                    .accepted = {.no_delay = options.pooling.no_delay,
                                                 .keep_alive = options.pooling.tcp_keep_alive}});
      if (!socket) return std::unexpected(StartError{cannot_listen(address, socket.error())});
      // The first socket settles which port 0 means.
      if (worker == 0) address = net::local_address_of(socket->get());
      sockets[worker].push_back(*std::move(socket));
    }
    addresses.push_back(address);
  }
  return sockets;
}

}  // namespace

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::expected<std::unique_ptr<Server>, StartError> Server::start(ServerOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  unsigned workers = impl->options.workers;
  if (workers == 0) workers = std::max(1U, std::thread::hardware_concurrency());

  auto sockets = open_listeners(impl->options, workers, impl->addresses);
  if (!sockets) return std::unexpected(sockets.error());
  for (auto& set : *sockets) {
    impl->workers.push_back(
        std::make_unique<Worker>(impl->options, std::move(set), impl->admission));
  }
  impl->running = workers;
  try {  // The border to a library that reports failures as exceptions.
    for (auto& worker : impl->workers) {
      impl->threads.emplace_back(&Impl::run, impl.get(), std::ref(*worker));
    }
  } catch (const std::system_error& error) {
    impl->stop();
    impl->wait();
    return std::unexpected(StartError{std::string("cannot start ") + std::to_string(workers) +
                                      " worker threads: " + error.what()});
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::~Server() {
  impl_->stop();
  impl_->wait();
}

const std::vector<net::SocketAddress>& Server::addresses() const noexcept {
  return impl_->addresses;
}

bool Server::drain() {
  for (auto& worker : impl_->workers) {
    worker->loop().post([&worker = *worker] { worker.drain(); });
  }
  std::unique_lock lock(impl_->mutex);
  const auto over = [this] { return impl_->running == 0 || impl_->stopped; };
  const auto limit = impl_->options.timeouts.drain;
  if (limit == net::Duration::zero()) {
    impl_->changed.wait(lock, over);
  } else {
    impl_->changed.wait_for(lock, limit, over);
  }
  const bool cut_short = impl_->running != 0;
  lock.unlock();
  impl_->stop();
  return cut_short;
}

void Server::stop() noexcept { impl_->stop(); }

void Server::wait() { impl_->wait(); }

}  // namespace titanium::proxy
