// SPDX-License-Identifier: MIT
#include "proxy/input_buffer.h"

#include <cstring>

#include "base/assert.h"

namespace titanium::proxy {

std::span<std::uint8_t> InputBuffer::room() {
  if (empty()) {
    begin_anew();
  } else if (chunk_->capacity - end_ < kMinimumRoom) {
    move_to_larger();
  }
  return {chunk_->data() + end_, chunk_->capacity - end_};
}

void InputBuffer::begin_anew() {
  if (chunk_ && (!bulk_ || chunk_->capacity >= ChunkPool::kBulkBytes)) {
    if (!chunk_.is_shared()) begin_ = end_ = 0;
    if (chunk_->capacity - end_ >= (bulk_ ? kBulkRoom : kMinimumRoom)) return;
  }
  chunk_ = ChunkRef(take_chunk());
  begin_ = end_ = 0;
}

// A head larger than a chunk gets twice the room each time; its size is limited by the parser.
void InputBuffer::move_to_larger() {
  const std::size_t unread = size();
  const std::size_t pooled = bulk_ ? ChunkPool::kBulkBytes : ChunkPool::kChunkBytes;
  ChunkRef larger(unread * 2 > pooled ? pool_.take_large(unread * 2) : take_chunk());
  std::memcpy(larger->data(), chunk_->data() + begin_, unread);
  chunk_ = std::move(larger);
  begin_ = 0;
  end_ = static_cast<std::uint32_t>(unread);
}

void InputBuffer::move_to(ChunkQueue& out, std::size_t bytes) {
  TI_ASSERT(bytes <= size());
  if (bytes == 0) return;
  const auto count = static_cast<std::uint32_t>(bytes);
  out.push({.chunk = chunk_, .begin = begin_, .end = begin_ + count});
  begin_ += count;
}

}  // namespace titanium::proxy
