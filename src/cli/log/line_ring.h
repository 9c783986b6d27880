// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace titanium::cli {

// Lines on their way from the workers to one writer thread: two buffers that change roles, so that
// the lock is held for a copy or a swap and never while somebody writes to a disk.
//
// Bounded: when the buffer is full, the line is dropped and counted. All memory is allocated by the
// constructor.
class LineRing {
 public:
  // Several lines are taken together, if that delays none by more than this.
  static constexpr std::chrono::milliseconds kGather{20};

  explicit LineRing(std::size_t bytes);

  // From any thread. False: there was no room, and the line is counted in dropped().
  bool push(std::string_view line) noexcept;

  // Waits for lines and moves them into `batch`, whose memory is taken in exchange: give back the
  // same string each time, with at least the ring's capacity. False: closed, and all is taken.
  // One thread only.
  [[nodiscard]] bool take(std::string& batch);

  // Lines pushed from now on are dropped; take() returns what is left, then false.
  void close() noexcept;

  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::string filling_;
  bool closed_ = false;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace titanium::cli
