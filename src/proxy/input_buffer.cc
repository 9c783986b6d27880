// SPDX-License-Identifier: MIT
#include "proxy/input_buffer.h"

#include <cstring>

#include "base/assert.h"

namespace titanium::proxy {

std::span<std::uint8_t> InputBuffer::room() {
  if (!chunk_) {
    chunk_ = ChunkRef(pool_.take());
    begin_ = end_ = 0;
  } else if (empty() && !chunk_.is_shared()) {
    begin_ = end_ = 0;
  } else if (chunk_->capacity - end_ < kMinimumRoom) {
    // A head larger than a chunk gets twice the room each time; its size is limited by the parser.
    const std::size_t unread = size();
    ChunkRef larger(unread * 2 > ChunkPool::kChunkBytes ? pool_.take_large(unread * 2)
                                                        : pool_.take());
    if (unread > 0) std::memcpy(larger->data(), chunk_->data() + begin_, unread);
    chunk_ = std::move(larger);
    begin_ = 0;
    end_ = static_cast<std::uint32_t>(unread);
  }
  return {chunk_->data() + end_, chunk_->capacity - end_};
}

void InputBuffer::move_to(ChunkQueue& out, std::size_t bytes) {
  TI_ASSERT(bytes <= size());
  if (bytes == 0) return;
  const auto count = static_cast<std::uint32_t>(bytes);
  out.push({.chunk = chunk_, .begin = begin_, .end = begin_ + count});
  begin_ += count;
}

}  // namespace titanium::proxy
