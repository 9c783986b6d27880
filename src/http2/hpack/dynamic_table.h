// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "http/field.h"
#include "http2/hpack/table_line.h"

namespace titanium::http2 {

// What an encoder finds a line by: a hash of its name, and one of name and value.
struct LineHash {
  std::uint32_t name = 0;
  std::uint32_t line = 0;
};

// The dynamic table of one direction (RFC 7541 §2.3.2, §4).
//
// Entries are in a ring, their texts follow each other in one block of memory, in the order of
// insertion. What is evicted is always at the front of that block, and once its end is reached, the
// living part is moved back to the beginning: a text never wraps, and name and value of a line are
// one piece. Both grow with use, so that an idle connection has neither; there are no allocations
// once they have reached the size that the traffic needs, at most about four times `max_bytes`.
//
// A line is addressed by its age: 0 is the newest, which HPACK calls index 62.
class DynamicTable {
 public:
  // RFC 7541 §4.1: what an entry counts beyond its name and value.
  static constexpr std::uint32_t kEntryOverhead = 32;

  // An age that no line has. Not std::optional: that is returned through memory, in two parts that
  // are then read as one, which takes longer than the look-up itself.
  static constexpr std::uint32_t kNoLine = std::numeric_limits<std::uint32_t>::max();

  // The two uses: decoders know the index of a line, encoders look for it.
  enum class Search : bool { by_age, by_text };

  DynamicTable(std::uint32_t max_bytes, Search search) noexcept
      : max_bytes_(max_bytes), search_(search) {}
  DynamicTable(const DynamicTable&) = delete;
  DynamicTable& operator=(const DynamicTable&) = delete;
  ~DynamicTable() = default;

  [[nodiscard]] std::uint32_t max_bytes() const noexcept { return max_bytes_; }
  // Size as RFC 7541 §4.1 counts it.
  [[nodiscard]] std::uint32_t bytes() const noexcept {
    return static_cast<std::uint32_t>(text_bytes_) + count_ * kEntryOverhead;
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  // Evicts what does not fit any more (§4.3).
  void set_max_bytes(std::uint32_t bytes) noexcept;

  // Evicts what has to go, then adds the line; one that is larger than the table only empties it
  // (§4.4). The texts must not lie in the table. `hash` is for Search::by_text only.
  void insert(std::string_view name, std::string_view value, http::KnownField known,
              LineHash hash = {});

  // `age` < count(). The text is valid until the next insert() or set_max_bytes().
  [[nodiscard]] TableLine at(std::uint32_t age) const noexcept {
    return line_of(entry_of(newest() - age));
  }

  // Search::by_text: the age of the newest such line, or kNoLine. O(1) on average and O(bytes()) at
  // worst, so that texts made to collide win nothing.
  [[nodiscard]] std::uint32_t find_line(std::string_view name, std::string_view value,
                                        std::uint32_t hash) const noexcept;
  [[nodiscard]] std::uint32_t find_name(std::string_view name, std::uint32_t hash) const noexcept;

 private:
  // Entries are numbered in the order of insertion. Those of a bucket are chained from the newest
  // to the oldest, each with the distance to the next; as the oldest are evicted first, a chain is
  // at its end where it leaves the living entries, and eviction need not touch it.
  struct Entry {
    std::uint32_t begin = 0;  // In the text, as if nothing had ever been moved.
    std::uint32_t name_bytes = 0;
    std::uint32_t value_bytes = 0;
    LineHash hash;
    LineHash older;  // Distances; 0: the chain ends here.
    http::KnownField known = http::KnownField::other;
  };

  [[nodiscard]] TableLine line_of(const Entry& entry) const noexcept {
    return {.text = {text_.get() + (entry.begin - text_base_),
                     std::size_t{entry.name_bytes} + entry.value_bytes},
            .name_bytes = entry.name_bytes,
            .known = entry.known};
  }
  [[nodiscard]] std::uint32_t newest() const noexcept { return inserted_ - 1; }
  [[nodiscard]] std::uint32_t age_of(std::uint32_t number) const noexcept {
    return newest() - number;
  }
  [[nodiscard]] Entry& entry_of(std::uint32_t number) const noexcept {
    return entries_[number & (entry_capacity_ - 1)];
  }
  [[nodiscard]] std::uint32_t& line_bucket(std::uint32_t hash) const noexcept {
    return buckets_[hash & (entry_capacity_ - 1)];
  }
  [[nodiscard]] std::uint32_t& name_bucket(std::uint32_t hash) const noexcept {
    return buckets_[entry_capacity_ + (hash & (entry_capacity_ - 1))];
  }

  void evict_until(std::uint64_t bytes) noexcept;
  void make_room_for_text(std::size_t bytes);
  void make_room_for_entry();
  void link(std::uint32_t number) noexcept;

  std::uint32_t max_bytes_;
  Search search_;
  std::uint32_t count_ = 0;
  std::uint32_t inserted_ = 0;        // So far; wraps.
  std::uint32_t entry_capacity_ = 0;  // A power of two, or 0.
  std::uint32_t text_base_ = 0;       // What Entry::begin of the first byte of text_ is; wraps.
  std::size_t text_begin_ = 0;        // Where the living part of text_ begins.
  std::size_t text_bytes_ = 0;        // And its size.
  std::size_t text_capacity_ = 0;
  std::unique_ptr<char[]> text_;
  std::unique_ptr<Entry[]> entries_;
  std::unique_ptr<std::uint32_t[]> buckets_;  // Numbers: by line, then by name.
};

}  // namespace titanium::http2
