// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "http2/stream.h"

namespace titanium::http2 {

// Whose turn it is to send DATA: the most urgent level first (RFC 9218 §10); within a level,
// incremental streams take turns, others stay at the front until they are done.
//
// Only streams that can send are in here, so that a turn is never wasted. O(1).
class Scheduler {
 public:
  void add(Stream& stream) noexcept;
  void remove(Stream& stream) noexcept;
  [[nodiscard]] static bool has(const Stream& stream) noexcept {
    return stream.ListLink<SendTurn>::is_linked();
  }
  [[nodiscard]] bool empty() const noexcept { return levels_in_use_ == 0; }

  // Takes out the stream whose turn it is; nullptr: there is none.
  [[nodiscard]] Stream* take_next() noexcept;
  // It had its turn, and has more to send.
  void put_back(Stream& stream) noexcept;
  void set_priority(Stream& stream, Priority priority) noexcept;

 private:
  using Level = IntrusiveList<Stream, SendTurn>;
  void note_if_empty(std::uint8_t urgency) noexcept;

  std::array<Level, Priority::kLevels> levels_;
  std::uint8_t levels_in_use_ = 0;  // One bit for each.
};

// Reads a priority field value or a PRIORITY_UPDATE payload (RFC 9218 §4, §7): a dictionary of
// structured fields (RFC 8941 §3.2) of which we want `u` and `i`. What is malformed or unknown is
// ignored, as §4 asks.
[[nodiscard]] Priority parse_priority(std::string_view text) noexcept;

}  // namespace titanium::http2
