// SPDX-License-Identifier: MIT
#include "cli/log/line_ring.h"

namespace titanium::cli {

LineRing::LineRing(std::size_t bytes) : capacity_(bytes) { filling_.reserve(bytes); }

bool LineRing::push(std::string_view line) noexcept {
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || line.size() > capacity_ - filling_.size()) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    const std::size_t before = filling_.size();
    filling_.append(line);
    // The first line ends the writer's wait, the one that makes it half full ends its gathering.
    wake = before == 0 || (before < capacity_ / 2 && filling_.size() >= capacity_ / 2);
  }
  if (wake) filled_.notify_one();
  return true;
}

bool LineRing::take(std::string& batch) {
  batch.clear();
  if (batch.capacity() < capacity_) batch.reserve(capacity_);
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [this] { return closed_ || !filling_.empty(); });
  filled_.wait_for(lock, kGather, [this] { return closed_ || filling_.size() >= capacity_ / 2; });
  filling_.swap(batch);
  return !batch.empty();
}

void LineRing::close() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
}

}  // namespace titanium::cli
