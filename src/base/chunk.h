// SPDX-License-Identifier: MIT
//
// Chunks, slices and queues: where all bytes on the data path live. A reader fills a chunk, slices
// of it travel to the writer, and the chunk returns to its pool when the last slice is gone.
//
// Everything here belongs to one worker thread; reference counts are therefore plain integers.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace titanium {

class ChunkPool;

// A block of memory with a reference count. Created by a ChunkPool only.
struct Chunk {
  ChunkPool* pool = nullptr;
  Chunk* next_free = nullptr;
  std::uint32_t references = 0;
  std::uint32_t capacity = 0;  // Bytes behind data().

  [[nodiscard]] std::uint8_t* data() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

// Hands out chunks and takes them back. Steady traffic reuses the chunk freed last, which is the
// one whose memory is in the CPU cache.
class ChunkPool {
 public:
  // Chunk and header together fill four pages, so that the allocator wastes nothing.
  static constexpr std::uint32_t kChunkBytes = 16 * 1024 - sizeof(Chunk);
  // The same for a peer that sends much: four times as many bytes for each system call.
  static constexpr std::uint32_t kBulkBytes = 64 * 1024 - sizeof(Chunk);
  // Chunks kept for reuse; 256 × 16 KiB + 64 × 64 KiB = 8 MiB per worker.
  static constexpr std::size_t kKeptChunks = 256;
  static constexpr std::size_t kKeptBulkChunks = 64;

  ChunkPool() = default;
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool();

  // A chunk of kChunkBytes with one reference. Never null: out of memory terminates.
  [[nodiscard]] Chunk* take() { return take(small_); }
  // The same of kBulkBytes.
  [[nodiscard]] Chunk* take_bulk() { return take(bulk_); }

  // A chunk of at least `bytes`, for the rare message head that does not fit a pooled chunk.
  [[nodiscard]] Chunk* take_large(std::size_t bytes);

  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  // Chunks that were ever fetched from the system's allocator.
  [[nodiscard]] std::uint64_t allocated() const noexcept { return allocated_; }

 private:
  friend class ChunkRef;
  // Chunks of one size that wait to be used again.
  struct Kept {
    std::uint32_t capacity;
    std::size_t most;
    Chunk* free = nullptr;
    std::size_t count = 0;
  };
  [[nodiscard]] Chunk* take(Kept& kept);
  void give_back(Chunk* chunk) noexcept;

  Kept small_{.capacity = kChunkBytes, .most = kKeptChunks};
  Kept bulk_{.capacity = kBulkBytes, .most = kKeptBulkChunks};
  std::uint64_t allocated_ = 0;
  std::size_t live_ = 0;  // Chunks that somebody holds; 0 when all connections are idle.
};

// Shared ownership of one chunk.
class ChunkRef {
 public:
  ChunkRef() = default;
  // Takes over the reference that ChunkPool::take() returned.
  explicit ChunkRef(Chunk* adopted) noexcept : chunk_(adopted) {}
  ChunkRef(const ChunkRef& other) noexcept : chunk_(other.chunk_) {
    if (chunk_ != nullptr) ++chunk_->references;
  }
  ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  ChunkRef& operator=(ChunkRef other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~ChunkRef() { reset(); }

  void reset() noexcept {
    if (chunk_ != nullptr && --chunk_->references == 0) chunk_->pool->give_back(chunk_);
    chunk_ = nullptr;
  }
  [[nodiscard]] Chunk* get() const noexcept { return chunk_; }
  Chunk* operator->() const noexcept { return chunk_; }
  explicit operator bool() const noexcept { return chunk_ != nullptr; }
  [[nodiscard]] bool is_shared() const noexcept {
    return chunk_ != nullptr && chunk_->references > 1;
  }

 private:
  Chunk* chunk_ = nullptr;
};

// Some bytes of a chunk, kept alive by it.
struct Slice {
  ChunkRef chunk;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
  [[nodiscard]] Bytes bytes() const noexcept { return {chunk->data() + begin, size()}; }
};

// A first-in-first-out queue of bytes made of slices.
//
// Small pieces are copied into a chunk of the queue's own (cheaper than a slice each, and a chunk
// that is held for a few bytes is memory lost), large ones are shared.
class ChunkQueue {
 public:
  // Bytes that are cheaper to copy than to share.
  static constexpr std::size_t kCopyBytes = 1024;
  // What append_slice() copies: pieces smaller than this part of their chunk. A queue therefore
  // never holds more than so many times the memory of its bytes, and a chunk of its own.
  static constexpr std::size_t kSmallestShare = 16;

  explicit ChunkQueue(ChunkPool& pool) noexcept : pool_(&pool) {}
  ChunkQueue(ChunkQueue&& other) noexcept;
  ChunkQueue& operator=(ChunkQueue&& other) noexcept;
  ChunkQueue(const ChunkQueue&) = delete;
  ChunkQueue& operator=(const ChunkQueue&) = delete;
  ~ChunkQueue() = default;

  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }
  [[nodiscard]] ChunkPool& pool() const noexcept { return *pool_; }

  // Copies text to the end.
  void append(std::string_view text);

  // Room for at least `bytes` contiguous bytes at the end (at most ChunkPool::kChunkBytes). Write
  // there, then call commit() with what was used, before any other call.
  [[nodiscard]] std::uint8_t* reserve(std::size_t bytes);
  void commit(std::size_t bytes) noexcept;

  // Shares the bytes of `slice`, or copies them if they are few.
  void append_slice(Slice slice);
  // Shares always.
  void push(Slice slice);

  // Moves everything, or the first `bytes` (at most size()), of `other` to the end of this queue,
  // as append_slice() does.
  void append(ChunkQueue& other);
  void append(ChunkQueue& other, std::size_t bytes);
  // Shares everything of `other`, which keeps it.
  void append_shared(const ChunkQueue& other);

  // The first contiguous piece; empty if the queue is.
  [[nodiscard]] Bytes front() const noexcept;
  // Removes the first slice.
  [[nodiscard]] Slice take_front() noexcept;

  // Fills `out` for writev(2) and returns the part that was filled; valid until the next change.
  [[nodiscard]] std::span<iovec> gather(std::span<iovec> out) const noexcept;

  // Drops the first `bytes` (at most size()).
  void consume(std::size_t bytes) noexcept;
  void clear() noexcept;

  // Everything as one string; for tests and error texts, not for the data path.
  [[nodiscard]] std::string_view peek_contiguous(std::vector<char>& scratch) const;

 private:
  static constexpr std::size_t kInlineSlices = 4;

  [[nodiscard]] Slice& slot(std::size_t index) noexcept {
    return ring()[(first_ + index) & (capacity_ - 1)];
  }
  [[nodiscard]] const Slice& slot(std::size_t index) const noexcept {
    return const_cast<ChunkQueue*>(this)->slot(index);
  }
  [[nodiscard]] Slice* ring() noexcept { return heap_.empty() ? inline_.data() : heap_.data(); }
  void grow();
  void pop_front() noexcept;
  void release_cursor_if_empty() noexcept {
    if (count_ == 0) cursor_.reset();
  }

  ChunkPool* pool_;
  std::array<Slice, kInlineSlices> inline_;
  std::vector<Slice> heap_;  // Takes over from inline_ once more slices are queued.
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t capacity_ = kInlineSlices;  // A power of two.
  std::size_t bytes_ = 0;
  // Where copied bytes go: nobody but this queue writes to its bytes from cursor_end_ on, so that
  // small pieces (frame headers, chunk sizes) fill one chunk also when shared slices lie in
  // between. Held only while there is something in the queue.
  ChunkRef cursor_;
  std::uint32_t cursor_end_ = 0;
};

}  // namespace titanium
