// SPDX-License-Identifier: MIT
#include "base/chunk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/assert.h"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>  // Its macros are empty unless AddressSanitizer is on.
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#endif

namespace titanium {
namespace {

Chunk* allocate(ChunkPool* pool, std::size_t capacity) {
  void* memory = std::malloc(sizeof(Chunk) + capacity);
  if (memory == nullptr) std::abort();  // Out of memory is not survivable (STYLE: errors).
  auto* chunk = new (memory) Chunk;
  chunk->pool = pool;
  chunk->references = 1;
  chunk->capacity = static_cast<std::uint32_t>(capacity);
  return chunk;
}

}  // namespace

ChunkPool::~ChunkPool() {
  TI_ASSERT(live_ == 0 && "a chunk outlives its pool");
  for (Kept* kept : {&small_, &bulk_}) {
    while (kept->free != nullptr) std::free(std::exchange(kept->free, kept->free->next_free));
  }
}

Chunk* ChunkPool::take(Kept& kept) {
  ++live_;
  if (kept.free == nullptr) {
    ++allocated_;
    return allocate(this, kept.capacity);
  }
  Chunk* chunk = std::exchange(kept.free, kept.free->next_free);
  --kept.count;
  ASAN_UNPOISON_MEMORY_REGION(chunk->data(), chunk->capacity);
  chunk->references = 1;
  return chunk;
}

Chunk* ChunkPool::take_large(std::size_t bytes) {
  ++live_;
  ++allocated_;
  return allocate(this, std::max<std::size_t>(bytes, kChunkBytes));
}

void ChunkPool::give_back(Chunk* chunk) noexcept {
  --live_;
  Kept& kept = chunk->capacity == kChunkBytes ? small_ : bulk_;
  if (chunk->capacity != kept.capacity || kept.count >= kept.most) {
    std::free(chunk);
    return;
  }
  // A view that outlives its chunk is a bug, also while the pool keeps the memory.
  ASAN_POISON_MEMORY_REGION(chunk->data(), chunk->capacity);
  chunk->next_free = std::exchange(kept.free, chunk);
  ++kept.count;
}

ChunkQueue::ChunkQueue(ChunkQueue&& other) noexcept
    : pool_(other.pool_),
      inline_(std::move(other.inline_)),
      heap_(std::move(other.heap_)),
      first_(std::exchange(other.first_, 0)),
      count_(std::exchange(other.count_, 0)),
      capacity_(std::exchange(other.capacity_, kInlineSlices)),
      bytes_(std::exchange(other.bytes_, 0)),
      cursor_(std::move(other.cursor_)),
      cursor_end_(other.cursor_end_) {
  other.heap_.clear();
}

ChunkQueue& ChunkQueue::operator=(ChunkQueue&& other) noexcept {
  if (this == &other) return *this;
  pool_ = other.pool_;
  inline_ = std::move(other.inline_);
  heap_ = std::move(other.heap_);
  other.heap_.clear();
  first_ = std::exchange(other.first_, 0);
  count_ = std::exchange(other.count_, 0);
  capacity_ = std::exchange(other.capacity_, kInlineSlices);
  bytes_ = std::exchange(other.bytes_, 0);
  cursor_ = std::move(other.cursor_);
  cursor_end_ = other.cursor_end_;
  return *this;
}

void ChunkQueue::grow() {
  std::vector<Slice> larger(capacity_ * 2);
  for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(slot(i));
  heap_ = std::move(larger);
  first_ = 0;
  capacity_ *= 2;
}

void ChunkQueue::pop_front() noexcept {
  slot(0).chunk.reset();
  first_ = (first_ + 1) & (capacity_ - 1);
  --count_;
  release_cursor_if_empty();
}

std::uint8_t* ChunkQueue::reserve(std::size_t bytes) {
  TI_ASSERT(bytes <= ChunkPool::kChunkBytes);
  if (!cursor_ || cursor_->capacity - cursor_end_ < bytes) {
    cursor_ = ChunkRef(pool_->take());
    cursor_end_ = 0;
  }
  return cursor_->data() + cursor_end_;
}

void ChunkQueue::commit(std::size_t bytes) noexcept {
  TI_ASSERT(cursor_ && cursor_->capacity - cursor_end_ >= bytes);
  const std::uint32_t begin = cursor_end_;
  cursor_end_ += static_cast<std::uint32_t>(bytes);
  bytes_ += bytes;
  if (count_ > 0) {
    Slice& tail = slot(count_ - 1);
    if (tail.chunk.get() == cursor_.get() && tail.end == begin) {
      tail.end = cursor_end_;
      return;
    }
  }
  if (bytes == 0) {  // Perhaps a fresh chunk that nothing was written to.
    if (count_ == 0 || cursor_end_ == 0) cursor_.reset();
    return;
  }
  if (count_ == capacity_) grow();
  slot(count_++) = {.chunk = cursor_, .begin = begin, .end = cursor_end_};
}

void ChunkQueue::append(std::string_view text) {
  while (!text.empty()) {
    const std::size_t left = cursor_ ? cursor_->capacity - cursor_end_ : 0;
    const std::size_t room = left == 0 ? ChunkPool::kChunkBytes : left;
    const std::size_t part = std::min(text.size(), room);
    std::memcpy(reserve(part), text.data(), part);
    commit(part);
    text.remove_prefix(part);
  }
}

void ChunkQueue::append_slice(Slice slice) {
  if (slice.size() == 0) return;
  if (slice.size() * kSmallestShare <= slice.chunk->capacity + sizeof(Chunk)) {
    append(as_text(slice.bytes()));
  } else {
    push(std::move(slice));
  }
}

void ChunkQueue::push(Slice slice) {
  if (slice.size() == 0) return;
  bytes_ += slice.size();
  if (count_ > 0) {  // Neighbours in the same chunk become one slice again.
    Slice& tail = slot(count_ - 1);
    if (tail.chunk.get() == slice.chunk.get() && tail.end == slice.begin) {
      tail.end = slice.end;
      return;
    }
  }
  if (count_ == capacity_) grow();
  slot(count_++) = std::move(slice);
}

void ChunkQueue::append(ChunkQueue& other) {
  while (other.count_ > 0) append_slice(other.take_front());
}

void ChunkQueue::append(ChunkQueue& other, std::size_t bytes) {
  TI_ASSERT(bytes <= other.size());
  while (bytes > 0) {
    Slice& head = other.slot(0);
    if (head.size() <= bytes) {
      bytes -= head.size();
      append_slice(other.take_front());
      continue;
    }
    append_slice({.chunk = head.chunk,
                  .begin = head.begin,
                  .end = head.begin + static_cast<std::uint32_t>(bytes)});
    other.consume(bytes);
    return;
  }
}

void ChunkQueue::append_shared(const ChunkQueue& other) {
  for (std::size_t i = 0; i < other.count_; ++i) append_slice(other.slot(i));
}

Bytes ChunkQueue::front() const noexcept { return count_ == 0 ? Bytes{} : slot(0).bytes(); }

Slice ChunkQueue::take_front() noexcept {
  TI_ASSERT(count_ > 0);
  Slice head = std::move(slot(0));
  bytes_ -= head.size();
  pop_front();
  return head;
}

std::span<iovec> ChunkQueue::gather(std::span<iovec> out) const noexcept {
  const std::size_t filled = std::min(out.size(), count_);
  for (std::size_t i = 0; i < filled; ++i) {
    const Slice& part = slot(i);
    out[i] = {part.chunk->data() + part.begin, part.size()};
  }
  return out.first(filled);
}

void ChunkQueue::consume(std::size_t bytes) noexcept {
  TI_ASSERT(bytes <= bytes_);
  bytes_ -= bytes;
  while (bytes > 0) {
    Slice& head = slot(0);
    const std::size_t taken = std::min(bytes, head.size());
    head.begin += static_cast<std::uint32_t>(taken);
    bytes -= taken;
    if (head.begin == head.end) pop_front();
  }
}

void ChunkQueue::clear() noexcept {
  while (count_ > 0) pop_front();
  bytes_ = 0;
}

std::string_view ChunkQueue::peek_contiguous(std::vector<char>& scratch) const {
  if (count_ == 1) return as_text(slot(0).bytes());
  scratch.clear();
  for (std::size_t i = 0; i < count_; ++i) {
    const std::string_view part = as_text(slot(i).bytes());
    scratch.insert(scratch.end(), part.begin(), part.end());
  }
  return {scratch.data(), scratch.size()};
}

}  // namespace titanium
