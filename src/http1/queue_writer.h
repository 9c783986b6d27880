// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/chunk.h"

namespace titanium::http1 {

// Writes many small texts to the end of a queue: one reserve() for a whole head, and a plain copy
// for each text. What was written is in the queue once the writer is gone.
class QueueWriter {
 public:
  explicit QueueWriter(ChunkQueue& out) : out_(out) { open(kWindowBytes); }
  QueueWriter(const QueueWriter&) = delete;
  QueueWriter& operator=(const QueueWriter&) = delete;
  ~QueueWriter() { close(); }

  void put(std::string_view text) {
    if (text.size() > static_cast<std::size_t>(end_ - at_)) [[unlikely]] {
      if (!make_room(text)) return;
    }
    copy(text);
  }

  // A field line: `name: value`, CR LF.
  void put_field(std::string_view name, std::string_view value) {
    constexpr std::string_view kColon = ": ";
    constexpr std::string_view kEnd = "\r\n";
    const std::size_t bytes = name.size() + kColon.size() + value.size() + kEnd.size();
    if (bytes > static_cast<std::size_t>(end_ - at_)) [[unlikely]] {
      for (const std::string_view part : {name, kColon, value, kEnd}) put(part);
      return;
    }
    copy(name);
    copy(kColon);
    copy(value);
    copy(kEnd);
  }

  void put_number(std::uint64_t number, int base = 10) {
    char digits[20];
    const auto result = std::to_chars(digits, digits + sizeof digits, number, base);
    put({digits, static_cast<std::size_t>(result.ptr - digits)});
  }

 private:
  // Holds a typical head; a queue's tail with less room than this is left as it is.
  static constexpr std::size_t kWindowBytes = 1024;

  void copy(std::string_view text) {
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

  void open(std::size_t bytes) {
    begin_ = at_ = out_.reserve(bytes);
    end_ = begin_ + bytes;
  }
  void close() { out_.commit(static_cast<std::size_t>(at_ - begin_)); }

  // False if `text` is too large for any window and has been written already.
  bool make_room(std::string_view text) {
    close();
    const bool fits = text.size() <= ChunkPool::kChunkBytes;
    if (!fits) out_.append(text);
    open(fits ? std::max(text.size(), kWindowBytes) : kWindowBytes);
    return fits;
  }

  ChunkQueue& out_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
  std::uint8_t* end_ = nullptr;
};

}  // namespace titanium::http1
