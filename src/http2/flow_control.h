// SPDX-License-Identifier: MIT
//
// The windows of RFC 9113 §5.2 and §6.9, of one stream or of the connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "http2/frames/frame.h"

namespace titanium::http2 {

// What we may send. Can be negative: SETTINGS_INITIAL_WINDOW_SIZE may go down (§6.9.2).
class SendWindow {
 public:
  explicit SendWindow(std::uint32_t bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t available() const noexcept {
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes_, 0));
  }
  void take(std::size_t bytes) noexcept { bytes_ -= static_cast<std::int64_t>(bytes); }
  // False: the window would go over 2^31-1 (§6.9.1).
  [[nodiscard]] bool add(std::int64_t bytes) noexcept {
    if (bytes_ + bytes > kLargestWindow) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  std::int64_t bytes_;
};

// What the peer may send, and what of it waits inside for somebody to take it. Window and waiting
// bytes together never exceed the size, except where the peer knows of a larger size still.
class ReceiveWindow {
 public:
  // `open`: what the peer may send at first.
  ReceiveWindow(std::uint32_t size, std::uint32_t open) noexcept : size_(size), open_(open) {}

  [[nodiscard]] bool admits(std::size_t bytes) const noexcept {
    return static_cast<std::int64_t>(bytes) <= open_;
  }
  // Bytes arrived: of a body, or such that nobody waits for (padding, DATA of dead streams).
  void receive(std::size_t bytes) noexcept {
    open_ -= static_cast<std::int64_t>(bytes);
    waiting_ += static_cast<std::int64_t>(bytes);
  }
  void receive_unwanted(std::size_t bytes) noexcept { open_ -= static_cast<std::int64_t>(bytes); }
  // At most what waits.
  void consume(std::size_t bytes) noexcept {
    waiting_ -= std::min(static_cast<std::int64_t>(bytes), waiting_);
  }
  // The peer has learnt of a size that is lower than what it knew.
  void shrink(std::uint32_t bytes) noexcept { open_ -= bytes; }

  [[nodiscard]] std::size_t waiting() const noexcept { return static_cast<std::size_t>(waiting_); }

  // What to give back now, or 0 if it is too little for a WINDOW_UPDATE.
  [[nodiscard]] std::uint32_t due() const noexcept {
    const std::int64_t credit = size_ - waiting_ - open_;
    return credit > 0 && credit >= size_ / 2 ? static_cast<std::uint32_t>(credit) : 0;
  }
  // The same where bytes may wait that belong to others, who must not stop the rest: half of what
  // they leave over is enough.
  [[nodiscard]] std::uint32_t due_beside_waiting() const noexcept {
    const std::int64_t credit = size_ - waiting_ - open_;
    return credit > 0 && credit >= (size_ - waiting_) / 2 ? static_cast<std::uint32_t>(credit) : 0;
  }
  void give_back(std::uint32_t bytes) noexcept { open_ += bytes; }

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(size_); }
  // The peer hears of it with what is due next; of a smaller one by getting less.
  void resize(std::uint32_t size) noexcept { size_ = size; }

 private:
  std::int64_t size_;
  std::int64_t open_;
  std::int64_t waiting_ = 0;
};

}  // namespace titanium::http2
