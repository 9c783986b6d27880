// SPDX-License-Identifier: MIT
//
// Which streams there are, and which there were (RFC 9113 §5.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "http2/stream.h"

namespace titanium::http2 {

// Finds open streams by id. Open addressing: ids follow each other, so that nearly every look-up is
// one step. Allocates only to grow.
class StreamTable {
 public:
  [[nodiscard]] Stream* find(std::uint32_t id) const noexcept;
  // The stream's id is not in the table.
  void insert(Stream& stream);
  void erase(const Stream& stream) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::size_t home_of(std::uint32_t id) const noexcept {
    return (id >> 1) & (slots_.size() - 1);
  }
  void place(Stream& stream) noexcept;
  void grow();

  std::vector<Stream*> slots_;  // None, or a power of two, at most half full.
  std::size_t size_ = 0;
};

// What became of ids that are not open any more. Remembers little: the newest resets, and the
// newest ids that were left out.
class ClosedStreams {
 public:
  enum class Fate : std::uint8_t {
    completed,    // Both sides sent END_STREAM; or it is too long ago to know.
    reset_by_us,  // The peer may not know yet: its frames are ignored (§5.1).
    reset_by_peer,
    never_used,  // Left out by the peer: closed as well (§5.1.1).
  };

  void remember_reset(std::uint32_t id, bool by_us);
  // The peer opened a stream without having used the ids from `first` to below `end`.
  void remember_gap(std::uint32_t first, std::uint32_t end) noexcept {
    gap_first_ = first;
    gap_end_ = end;
  }
  [[nodiscard]] Fate fate_of(std::uint32_t id) const noexcept;

 private:
  // More than a peer resets, or makes us reset, within a round trip. Comes to life with the first.
  static constexpr std::size_t kRemembered = 128;
  static constexpr std::uint32_t kByUs = 0x8000'0000;  // Ids have 31 bits.

  std::vector<std::uint32_t> resets_;  // A ring.
  std::size_t next_ = 0;
  std::uint32_t gap_first_ = 0;
  std::uint32_t gap_end_ = 0;
};

}  // namespace titanium::http2
