// SPDX-License-Identifier: MIT
#include "http2/streams.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace titanium::http2 {
namespace {

constexpr std::size_t kFirstSlots = 8;

}  // namespace

Stream* StreamTable::find(std::uint32_t id) const noexcept {
  if (size_ == 0 || id == 0) return nullptr;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = home_of(id); slots_[at] != nullptr; at = (at + 1) & mask) {
    if (slots_[at]->id_ == id) return slots_[at];
  }
  return nullptr;
}

void StreamTable::insert(Stream& stream) {
  TI_ASSERT(find(stream.id_) == nullptr);
  if (2 * (size_ + 1) > slots_.size()) grow();
  place(stream);
  ++size_;
}

void StreamTable::erase(const Stream& stream) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = home_of(stream.id_);
  while (slots_[hole] != &stream) hole = (hole + 1) & mask;
  slots_[hole] = nullptr;
  --size_;
  // Whoever was pushed past the hole moves back, so that no look-up stops short of it.
  for (std::size_t at = (hole + 1) & mask; slots_[at] != nullptr; at = (at + 1) & mask) {
    const std::size_t home = home_of(slots_[at]->id_);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = std::exchange(slots_[at], nullptr);
    hole = at;
  }
}

void StreamTable::place(Stream& stream) noexcept {
  std::size_t at = home_of(stream.id_);
  while (slots_[at] != nullptr) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = &stream;
}

void StreamTable::grow() {
  std::vector<Stream*> old(std::max(kFirstSlots, slots_.size() * 2));
  slots_.swap(old);
  for (Stream* stream : old) {
    if (stream != nullptr) place(*stream);
  }
}

void ClosedStreams::remember_reset(std::uint32_t id, bool by_us) {
  const std::uint32_t entry = by_us ? id | kByUs : id;
  if (resets_.size() < kRemembered) {
    resets_.push_back(entry);
    return;
  }
  resets_[next_] = entry;
  next_ = (next_ + 1) % kRemembered;
}

ClosedStreams::Fate ClosedStreams::fate_of(std::uint32_t id) const noexcept {
  const auto entry =
      std::ranges::find(resets_, id, [](std::uint32_t reset) { return reset & ~kByUs; });
  if (entry != resets_.end()) {
    return (*entry & kByUs) != 0 ? Fate::reset_by_us : Fate::reset_by_peer;
  }
  return id >= gap_first_ && id < gap_end_ ? Fate::never_used : Fate::completed;
}

}  // namespace titanium::http2
