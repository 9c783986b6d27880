// SPDX-License-Identifier: MIT
#include "shim/server.h"

#include <sys/socket.h>

#include <cstdio>
#include <deque>
#include <string>
#include <utility>

#include "net/transport.h"
#include "service/service.h"

namespace titanium::probe {

// One direction of a connection: what was read waits until its time has come.
class ShimServer::Direction final : private net::TransportHandler, private AlarmHandler {
 public:
  // `seed` fixes the stalls of this direction.
  Direction(ShimServer& server, Connection& connection, std::uint64_t seed)
      : server_(server), connection_(connection), random_(seed), out_(server.pool_) {}
  ~Direction() { server_.alarms_.cancel(*this); }

  // Reads from `from` and is told of its events; writes to `to`, whose handler is the other one.
  void start(net::Transport& from, net::Transport& to, Direction& back) {
    from_ = &from;
    to_ = &to;
    back_ = &back;
    from.set_handler(this);
  }
  [[nodiscard]] bool is_over() const noexcept { return ended_ && waiting_.empty() && out_.empty(); }

 private:
  struct Buffer {
    net::TimePoint due;
    ChunkQueue bytes;  // Empty: the end.
  };

  void on_readable() override { read_all(); }
  void on_writable() override { back_->flush(); }
  void on_alarm() override;

  void read_all();
  void wait(ChunkQueue bytes);
  void flush();

  ShimServer& server_;
  Connection& connection_;
  std::minstd_rand random_;
  net::Transport* from_ = nullptr;
  net::Transport* to_ = nullptr;
  Direction* back_ = nullptr;
  std::deque<Buffer> waiting_;
  std::size_t waiting_bytes_ = 0;
  ChunkQueue out_;  // Its time has come.
  bool ended_ = false;
  bool end_sent_ = false;
};

class ShimServer::Connection {
 public:
  Connection(ShimServer& server, std::unique_ptr<net::Transport> client,
             std::unique_ptr<net::Transport> target, std::uint64_t number)
      : server_(server),
        client_(std::move(client)),
        target_(std::move(target)),
        up_(server, *this, 2 * number + 1),
        down_(server, *this, 2 * number + 2) {
    up_.start(*client_, *target_, down_);
    down_.start(*target_, *client_, up_);
  }
  void close(bool hard) {
    if (hard) {
      client_->abort_on_close();
      target_->abort_on_close();
    }
    client_->set_handler(nullptr);
    target_->set_handler(nullptr);
    server_.remove(*this);
  }
  void close_if_over() {
    if (up_.is_over() && down_.is_over()) close(false);
  }

 private:
  ShimServer& server_;
  std::unique_ptr<net::Transport> client_;
  std::unique_ptr<net::Transport> target_;
  Direction up_;
  Direction down_;
};

void ShimServer::Direction::read_all() {
  while (!ended_ && waiting_bytes_ + out_.size() < kWindowBytes) {
    ChunkQueue bytes(server_.pool_);
    std::uint8_t* const room = bytes.reserve(ChunkPool::kChunkBytes);
    const net::ReadResult result = from_->read({room, ChunkPool::kChunkBytes});
    switch (result.status) {
      case net::ReadResult::Status::bytes:
        bytes.commit(result.bytes);
        wait(std::move(bytes));
        break;
      case net::ReadResult::Status::would_block:
        return;
      case net::ReadResult::Status::end:
      case net::ReadResult::Status::truncated:
        ended_ = true;
        wait(std::move(bytes));
        return;
      case net::ReadResult::Status::failed:
        return connection_.close(true);
    }
  }
}

void ShimServer::Direction::wait(ChunkQueue bytes) {
  net::TimePoint due = net::Clock::now() + std::chrono::milliseconds(server_.options_.delay_ms);
  std::uniform_real_distribution<double> percent(0, 100);
  if (!bytes.empty() && percent(random_) < server_.options_.stall_percent) {
    due += kStall;
    ++server_.stalls_;
  }
  // What comes behind a lost packet is not delivered before it is there.
  if (!waiting_.empty()) due = std::max(due, waiting_.back().due);
  waiting_bytes_ += bytes.size();
  const bool first = waiting_.empty();
  waiting_.push_back({.due = due, .bytes = std::move(bytes)});
  if (first) server_.alarms_.set(*this, due);
}

void ShimServer::Direction::on_alarm() {
  const net::TimePoint now = net::Clock::now();
  while (!waiting_.empty() && waiting_.front().due <= now) {
    waiting_bytes_ -= waiting_.front().bytes.size();
    out_.append(waiting_.front().bytes);
    waiting_.pop_front();
  }
  if (!waiting_.empty()) server_.alarms_.set(*this, waiting_.front().due);
  flush();
}

void ShimServer::Direction::flush() {
  if (!out_.empty() && !to_->write(out_)) return connection_.close(true);
  if (is_over() && !std::exchange(end_sent_, true)) {
    to_->shutdown_write();
    return connection_.close_if_over();
  }
  // The window may have opened again.
  if (!ended_) read_all();
}

ShimServer::ShimServer(net::EventLoop& loop, const ShimOptions& options, net::FileDescriptor socket)
    : loop_(loop),
      options_(options),
      alarms_(loop),
      listener_(loop, std::move(socket), *this, Logger{}) {}

ShimServer::~ShimServer() {
  connections_.clear();
  loop_.run_once(net::Duration(0));  // Connections that ended still hold chunks of our pool.
}

std::unique_ptr<ShimServer> ShimServer::create(net::EventLoop& loop, const ShimOptions& options) {
  auto socket = net::listen_tcp(*net::SocketAddress::parse("127.0.0.1", options.port),
                                {.backlog = 4096, .reuse_port = false, .accepted = {}});
  if (!socket) return nullptr;
  return std::unique_ptr<ShimServer>(new ShimServer(loop, options, std::move(*socket)));
}

std::uint16_t ShimServer::port() const noexcept { return listener_.local_address().port(); }

void ShimServer::on_accept(net::FileDescriptor socket, const net::SocketAddress& peer) {
  const auto target = *net::SocketAddress::parse("127.0.0.1", options_.target_port);
  net::FileDescriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!other ||
      (::connect(other.get(), target.get(), target.length()) != 0 && errno != EINPROGRESS)) {
    return;  // The client sees its connection closed.
  }
  auto connection = std::make_unique<Connection>(
      *this, net::make_tcp_transport(loop_, std::move(socket), peer, {}),
      net::make_tcp_transport(loop_, std::move(other), target, {}), accepted_++);
  Connection* const key = connection.get();
  connections_.emplace(key, std::move(connection));
}

void ShimServer::remove(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  loop_.destroy_later(std::move(found->second));
  connections_.erase(found);
}

int serve_shim(const ShimOptions& options) {
  net::FileDescriptor signals = open_shutdown_signals();
  net::EventLoop loop;
  const StopOnSignal stop(loop, std::move(signals));
  const auto server = ShimServer::create(loop, options);
  if (server == nullptr) {
    std::fprintf(stderr, "shim: port %u is taken\n", static_cast<unsigned>(options.port));
    return 1;
  }
  print_ready("port=" + std::to_string(server->port()));
  loop.run();
  return 0;
}

}  // namespace titanium::probe
