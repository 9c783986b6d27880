// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/chunk.h"

namespace titanium::proxy {

// What was received on a connection and not yet used: one contiguous piece in one chunk, so that
// codecs see whole lines. Holds no memory while it is empty and released. Takes larger chunks while
// the peer fills small ones.
class InputBuffer {
 public:
  explicit InputBuffer(ChunkPool& pool) noexcept : pool_(pool) {}

  [[nodiscard]] std::string_view unread() const noexcept {
    if (!chunk_) return {};
    return {reinterpret_cast<const char*>(chunk_->data()) + begin_, end_ - begin_};
  }
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }

  // Where to read to: never empty. May move the unread bytes to another chunk; bytes that were
  // consumed stay where they are while somebody holds their chunk.
  [[nodiscard]] std::span<std::uint8_t> room();
  void filled(std::size_t bytes) noexcept {
    end_ += static_cast<std::uint32_t>(bytes);
    received_ += bytes;
    if (end_ == chunk_->capacity) bulk_ = true;
  }

  void consume(std::size_t bytes) noexcept { begin_ += static_cast<std::uint32_t>(bytes); }
  // Takes the first `bytes` over into `out`, shared: the queue that they end up in copies them if
  // they are few.
  void move_to(ChunkQueue& out, std::size_t bytes);

  // Takes all unread bytes over, as one shared slice.
  [[nodiscard]] Slice take() noexcept {
    return {.chunk = chunk_, .begin = std::exchange(begin_, end_), .end = end_};
  }

  // The chunk that holds the unread bytes, for whoever keeps views into it.
  [[nodiscard]] const ChunkRef& chunk() const noexcept { return chunk_; }
  // Gives the chunk back if nothing is unread.
  void release_if_empty() noexcept {
    if (!empty()) return;
    bulk_ = std::exchange(received_, 0) >= ChunkPool::kChunkBytes;
    chunk_.reset();
    begin_ = end_ = 0;
  }

 private:
  // A read into less room than this is not worth its system call.
  static constexpr std::uint32_t kMinimumRoom = 2048;
  // The same where much is to come: a TLS record needs that much to come in one piece.
  static constexpr std::uint32_t kBulkRoom = 16 * 1024;

  void begin_anew();
  void move_to_larger();
  [[nodiscard]] Chunk* take_chunk() { return bulk_ ? pool_.take_bulk() : pool_.take(); }

  ChunkPool& pool_;
  ChunkRef chunk_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::size_t received_ = 0;  // Since the buffer last was released.
  bool bulk_ = false;         // The peer has more to say than a chunk holds.
};

}  // namespace titanium::proxy
