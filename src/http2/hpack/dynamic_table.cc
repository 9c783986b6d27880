// SPDX-License-Identifier: MIT
#include "http2/hpack/dynamic_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"
#include "base/text_words.h"

namespace titanium::http2 {
namespace {

constexpr std::uint32_t kFirstEntries = 8;
constexpr std::size_t kFirstTextBytes = 256;

}  // namespace

void DynamicTable::set_max_bytes(std::uint32_t bytes) noexcept {
  max_bytes_ = bytes;
  evict_until(bytes);
}

void DynamicTable::insert(std::string_view name, std::string_view value, http::KnownField known,
                          LineHash hash) {
  const std::size_t text_bytes = name.size() + value.size();
  const std::uint64_t bytes = std::uint64_t{text_bytes} + kEntryOverhead;
  if (bytes > max_bytes_) return evict_until(0);
  evict_until(max_bytes_ - bytes);
  make_room_for_text(text_bytes);
  make_room_for_entry();

  const std::size_t begin = text_begin_ + text_bytes_;
  std::ranges::copy(value, std::ranges::copy(name, text_.get() + begin).out);
  text_bytes_ += text_bytes;

  const std::uint32_t number = inserted_++;
  ++count_;
  entry_of(number) = {.begin = text_base_ + static_cast<std::uint32_t>(begin),
                      .name_bytes = static_cast<std::uint32_t>(name.size()),
                      .value_bytes = static_cast<std::uint32_t>(value.size()),
                      .hash = hash,
                      .older = {},
                      .known = known};
  if (search_ == Search::by_text) link(number);
}

std::uint32_t DynamicTable::find_line(std::string_view name, std::string_view value,
                                      std::uint32_t hash) const noexcept {
  TI_ASSERT(search_ == Search::by_text);
  if (count_ == 0) return kNoLine;
  std::uint32_t age = age_of(line_bucket(hash));
  while (age < count_) {
    const Entry& entry = entry_of(newest() - age);
    // A bucket that is not up to date may lead to a line with another hash, or just another text.
    if (entry.hash.line == hash && entry.name_bytes == name.size()) {
      const TableLine line = line_of(entry);
      if (same_text(line.name(), name) && same_text(line.value(), value)) return age;
    }
    if (entry.older.line == 0) break;
    age += entry.older.line;
  }
  return kNoLine;
}

std::uint32_t DynamicTable::find_name(std::string_view name, std::uint32_t hash) const noexcept {
  TI_ASSERT(search_ == Search::by_text);
  if (count_ == 0) return kNoLine;
  std::uint32_t age = age_of(name_bucket(hash));
  while (age < count_) {
    const Entry& entry = entry_of(newest() - age);
    if (entry.hash.name == hash && same_text(line_of(entry).name(), name)) return age;
    if (entry.older.name == 0) break;
    age += entry.older.name;
  }
  return kNoLine;
}

void DynamicTable::evict_until(std::uint64_t bytes) noexcept {
  while (this->bytes() > bytes) {
    const Entry& oldest = entry_of(inserted_ - count_);
    const std::size_t text_bytes = std::size_t{oldest.name_bytes} + oldest.value_bytes;
    text_begin_ += text_bytes;
    text_bytes_ -= text_bytes;
    --count_;
  }
}

void DynamicTable::make_room_for_text(std::size_t bytes) {
  if (text_begin_ + text_bytes_ + bytes <= text_capacity_) return;
  // Twice of what lives: between two moves at least as much is added as is moved.
  const std::size_t wanted = 2 * (text_bytes_ + bytes);
  std::unique_ptr<char[]> old;
  const char* const living = text_.get() + text_begin_;
  if (text_capacity_ < wanted) {
    text_capacity_ = std::max(std::bit_ceil(wanted), kFirstTextBytes);
    old = std::exchange(text_, std::make_unique_for_overwrite<char[]>(text_capacity_));
  }
  std::copy_n(living, text_bytes_, text_.get());  // To the left, if within the same memory.
  text_base_ += static_cast<std::uint32_t>(text_begin_);
  text_begin_ = 0;
}

void DynamicTable::make_room_for_entry() {
  if (count_ < entry_capacity_) return;
  const std::uint32_t old_capacity = entry_capacity_;
  const std::unique_ptr<Entry[]> old = std::move(entries_);
  entry_capacity_ = std::max(2 * old_capacity, kFirstEntries);
  entries_ = std::make_unique<Entry[]>(entry_capacity_);
  if (search_ == Search::by_text) {
    buckets_ = std::make_unique<std::uint32_t[]>(std::size_t{2} * entry_capacity_);
  }
  for (std::uint32_t number = inserted_ - count_; number != inserted_; ++number) {
    entry_of(number) = old[number & (old_capacity - 1)];
    if (search_ == Search::by_text) link(number);
  }
}

void DynamicTable::link(std::uint32_t number) noexcept {
  Entry& entry = entry_of(number);
  const auto distance = [&](std::uint32_t& bucket) {
    const std::uint32_t older = number - std::exchange(bucket, number);
    // The oldest living entry is `count_ - 1` away at most; a bucket may know one that is gone.
    return older < count_ ? older : 0;
  };
  entry.older = {.name = distance(name_bucket(entry.hash.name)),
                 .line = distance(line_bucket(entry.hash.line))};
}

}  // namespace titanium::http2
