// SPDX-License-Identifier: MIT
#include "tls/record_io.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace titanium::tls {

// C functions for the BIO; each is an adapter to the object in the BIO's data.
struct RecordIo::Callbacks {
  static RecordIo& self(BIO* bio) noexcept { return *static_cast<RecordIo*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* out, std::size_t length, std::size_t* done) noexcept {
    BIO_clear_retry_flags(bio);
    *done = self(bio).read({reinterpret_cast<std::uint8_t*>(out), length});
    if (*done > 0) return 1;
    BIO_set_retry_read(bio);
    return -1;
  }

  // The queue takes everything: its bound is kept by whoever calls SSL_write().
  static int write(BIO* bio, const char* data, std::size_t length, std::size_t* done) noexcept {
    BIO_clear_retry_flags(bio);
    self(bio).output_.append({data, length});
    *done = length;
    return 1;
  }

  static long control(BIO* /*bio*/, int command, long /*number*/, void* /*data*/) noexcept {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static BioMethod make_method() {
    BioMethod method(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "chunks"));
    if (method == nullptr || BIO_meth_set_read_ex(method.get(), read) != 1 ||
        BIO_meth_set_write_ex(method.get(), write) != 1 ||
        BIO_meth_set_ctrl(method.get(), control) != 1) {
      std::abort();  // Out of memory.
    }
    return method;
  }
};

Bio RecordIo::make_bio() {
  // Immutable after construction, which the language makes thread-safe.
  static const BioMethod method = Callbacks::make_method();
  Bio bio(BIO_new(method.get()));
  if (bio == nullptr) std::abort();  // Out of memory.
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  return bio;
}

bool RecordIo::fill() {
  if (ended_ || error_) return false;
  ChunkRef chunk(bulk_ ? pool_.take_bulk() : pool_.take());
  const net::ReadResult result = inner_.read({chunk->data(), chunk->capacity});
  switch (result.status) {
    case net::ReadResult::Status::bytes:
      bulk_ = result.bytes >= ChunkPool::kChunkBytes;
      input_ = {
          .chunk = std::move(chunk), .begin = 0, .end = static_cast<std::uint32_t>(result.bytes)};
      return true;
    case net::ReadResult::Status::would_block:
      break;
    case net::ReadResult::Status::end:
    case net::ReadResult::Status::truncated:
      ended_ = true;
      break;
    case net::ReadResult::Status::failed:
      error_ = result.error;
      break;
  }
  return false;
}

std::size_t RecordIo::read(std::span<std::uint8_t> into) {
  if (budget_ == 0 || into.empty() || (!has_input() && !fill())) return 0;
  const std::size_t length = std::min({into.size(), input_.size(), budget_});
  std::memcpy(into.data(), input_.bytes().data(), length);
  if (first_count_ < kFirstBytes) remember(input_.bytes().first(length));
  budget_ -= length;
  input_.begin += static_cast<std::uint32_t>(length);
  if (input_.size() == 0) input_ = {};
  return length;
}

void RecordIo::remember(Bytes bytes) noexcept {
  const std::size_t length = std::min(bytes.size(), kFirstBytes - first_count_);
  std::memcpy(first_.data() + first_count_, bytes.data(), length);
  first_count_ = static_cast<std::uint8_t>(first_count_ + length);
}

void RecordIo::discard_input(std::size_t limit) {
  std::size_t dropped = 0;
  while (dropped < limit && (has_input() || fill())) {
    dropped += input_.size();
    input_ = {};
  }
}

}  // namespace titanium::tls
