// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>

#include "base/chunk.h"

namespace titanium::http2 {

// Bytes that arrive in pieces and are needed as one. Lives in a chunk of the pool for as long as
// that lasts, and holds nothing in between.
class Assembly {
 public:
  explicit Assembly(ChunkPool& pool) noexcept : pool_(&pool) {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Bytes bytes() const noexcept {
    return size_ == 0 ? Bytes{} : Bytes{chunk_->data(), size_};
  }
  void append(Bytes piece) {
    if (piece.empty()) return;
    if (chunk_.get() == nullptr || chunk_->capacity - size_ < piece.size()) grow(piece.size());
    std::memcpy(chunk_->data() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }
  void clear() noexcept {
    chunk_.reset();
    size_ = 0;
  }

 private:
  void grow(std::size_t more) {
    const std::size_t needed = size_ + more;
    // Doubling bounds the copies by what arrived.
    ChunkRef larger(needed <= ChunkPool::kChunkBytes
                        ? pool_->take()
                        : pool_->take_large(std::max(needed, 2 * size_)));
    if (size_ > 0) std::memcpy(larger->data(), chunk_->data(), size_);
    chunk_ = std::move(larger);
  }

  ChunkPool* pool_;
  ChunkRef chunk_;
  std::size_t size_ = 0;
};

}  // namespace titanium::http2
