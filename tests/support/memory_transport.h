// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "net/transport.h"

namespace titanium::test {

// One end of a connection that exists in memory only. It behaves like a TCP transport, and lets a
// test decide how the bytes are cut. Events are reported in the deferred work of the loop.
class MemoryTransport final : public net::Transport, private net::Deferred {
 public:
  using Pair = std::pair<std::unique_ptr<MemoryTransport>, std::unique_ptr<MemoryTransport>>;

  // Two connected ends.
  static Pair make_pair(net::EventLoop& loop) {
    auto there = std::make_shared<Pipe>();
    auto back = std::make_shared<Pipe>();
    Pair pair{std::unique_ptr<MemoryTransport>(new MemoryTransport(loop, there, back)),
              std::unique_ptr<MemoryTransport>(new MemoryTransport(loop, back, there))};
    there->writer = back->reader = pair.first.get();
    there->reader = back->writer = pair.second.get();
    return pair;
  }

  ~MemoryTransport() override {
    inbox_->reader = nullptr;
    outbox_->writer = nullptr;
    (abort_ ? outbox_->reset : outbox_->ended) = true;
    if (outbox_->reader != nullptr) outbox_->reader->wake(kReadable);
  }

  // At most this many bytes per read(); after that, read() says would_block once and on_readable()
  // follows, as if the rest were still under way.
  std::size_t read_limit = std::numeric_limits<std::size_t>::max();
  // At most this many bytes per write(); on_writable() follows.
  std::size_t write_limit = std::numeric_limits<std::size_t>::max();
  // Bytes that may be under way to the peer.
  std::size_t capacity = 1024 * 1024;
  // Everything that write() took is appended here too, if set.
  std::string* tap = nullptr;
  // Turns write() into a failure.
  bool broken = false;

  // Puts bytes of a test on the wire as if write() had taken them.
  void send(std::string_view bytes) {
    outbox_->data.append(bytes);
    if (outbox_->reader != nullptr) outbox_->reader->wake(kReadable);
  }
  // What the peer sent and nobody read yet.
  [[nodiscard]] std::string_view unread() const {
    return std::string_view(inbox_->data).substr(inbox_->begin);
  }
  [[nodiscard]] bool peer_is_gone() const { return inbox_->ended || inbox_->reset; }
  [[nodiscard]] bool was_reset() const { return inbox_->reset; }
  [[nodiscard]] bool has_shut_down() const { return outbox_->ended; }

  void set_handler(net::TransportHandler* handler) noexcept override {
    handler_ = handler;
    if (handler_ != nullptr && events_ != 0) loop_.defer(*this);
  }

  [[nodiscard]] net::ReadResult read(std::span<std::uint8_t> into) override {
    using Status = net::ReadResult::Status;
    if (inbox_->reset) {
      return {.status = Status::failed,
              .error = {.code = Code::closed, .native = ECONNRESET, .what = "connection reset"}};
    }
    const std::size_t there = inbox_->data.size() - inbox_->begin;
    if (there == 0 && inbox_->ended) return {.status = Status::end};
    if (there == 0) return {};
    if (read_limit != std::numeric_limits<std::size_t>::max() && std::exchange(pause_, !pause_)) {
      wake(kReadable);
      return {};
    }
    const std::size_t length = std::min({there, into.size(), read_limit});
    std::memcpy(into.data(), inbox_->data.data() + inbox_->begin, length);
    inbox_->begin += length;
    inbox_->trim();
    if (inbox_->writer != nullptr && std::exchange(inbox_->writer->blocked_, false)) {
      inbox_->writer->wake(kWritable);
    }
    return {.status = Status::bytes, .bytes = length};
  }

  [[nodiscard]] Result<> write(ChunkQueue& from) override {
    if (broken || inbox_->reset || outbox_->reader == nullptr) {
      return std::unexpected(
          Error{.code = Code::closed, .native = EPIPE, .what = "connection is gone"});
    }
    std::size_t left = std::min(write_limit, room());
    while (left > 0 && !from.empty()) {
      const std::string_view part = as_text(from.front()).substr(0, left);
      outbox_->data.append(part);
      if (tap != nullptr) tap->append(part);
      left -= part.size();
      from.consume(part.size());
    }
    outbox_->reader->wake(kReadable);
    if (from.empty()) return {};
    if (room() > 0) {
      wake(kWritable);
    } else {
      blocked_ = true;
    }
    return {};
  }

  void shutdown_write() override {
    outbox_->ended = true;
    if (outbox_->reader != nullptr) outbox_->reader->wake(kReadable);
  }
  void abort_on_close() noexcept override { abort_ = true; }
  [[nodiscard]] bool is_stale() override {
    return inbox_->ended || inbox_->reset || !unread().empty();
  }
  [[nodiscard]] std::size_t unsent_bytes() const noexcept override { return 0; }
  [[nodiscard]] const net::SocketAddress& peer_address() const noexcept override {
    return address_;
  }
  [[nodiscard]] const net::SocketAddress& local_address() const noexcept override {
    return address_;
  }
  [[nodiscard]] std::string_view alpn() const noexcept override { return {}; }
  [[nodiscard]] bool is_encrypted() const noexcept override { return false; }

 private:
  static constexpr unsigned kReadable = 1;
  static constexpr unsigned kWritable = 2;

  // One direction. The last end that goes frees it.
  struct Pipe {
    std::string data;
    std::size_t begin = 0;
    bool ended = false;
    bool reset = false;
    MemoryTransport* reader = nullptr;
    MemoryTransport* writer = nullptr;

    void trim() {
      if (begin < 64 * 1024 && begin < data.size()) return;
      data.erase(0, begin);
      begin = 0;
    }
  };

  MemoryTransport(net::EventLoop& loop, std::shared_ptr<Pipe> outbox, std::shared_ptr<Pipe> inbox)
      : loop_(loop), outbox_(std::move(outbox)), inbox_(std::move(inbox)) {}

  [[nodiscard]] std::size_t room() const {
    const std::size_t under_way = outbox_->data.size() - outbox_->begin;
    return under_way >= capacity ? 0 : capacity - under_way;
  }

  void wake(unsigned event) {
    events_ |= event;
    if (handler_ != nullptr) loop_.defer(*this);
  }

  void on_turn_end() override {
    const unsigned events = std::exchange(events_, 0);
    if ((events & kWritable) != 0 && handler_ != nullptr) handler_->on_writable();
    if ((events & kReadable) == 0) return;
    if (handler_ != nullptr) {
      handler_->on_readable();
    } else {
      events_ |= kReadable;
    }
  }

  net::EventLoop& loop_;
  std::shared_ptr<Pipe> outbox_;
  std::shared_ptr<Pipe> inbox_;
  net::TransportHandler* handler_ = nullptr;
  net::SocketAddress address_;
  unsigned events_ = 0;
  bool pause_ = false;
  bool blocked_ = false;
  bool abort_ = false;
};

}  // namespace titanium::test
