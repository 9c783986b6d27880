// SPDX-License-Identifier: MIT
#include "http2/scheduler.h"

#include <bit>

#include "base/assert.h"
#include "http/field.h"

namespace titanium::http2 {

void Scheduler::add(Stream& stream) noexcept {
  TI_ASSERT(!has(stream));
  levels_[stream.priority_.urgency].push_back(stream);
  levels_in_use_ |= static_cast<std::uint8_t>(1U << stream.priority_.urgency);
}

void Scheduler::remove(Stream& stream) noexcept {
  if (!has(stream)) return;
  stream.ListLink<SendTurn>::unlink();
  note_if_empty(stream.priority_.urgency);
}

Stream* Scheduler::take_next() noexcept {
  while (levels_in_use_ != 0) {
    const auto urgency = static_cast<std::uint8_t>(std::countr_zero(levels_in_use_));
    Stream* stream = levels_[urgency].pop_front();
    note_if_empty(urgency);
    if (stream != nullptr) return stream;
  }
  return nullptr;
}

void Scheduler::put_back(Stream& stream) noexcept {
  if (stream.priority_.incremental) return add(stream);
  levels_[stream.priority_.urgency].push_front(stream);
  levels_in_use_ |= static_cast<std::uint8_t>(1U << stream.priority_.urgency);
}

void Scheduler::set_priority(Stream& stream, Priority priority) noexcept {
  const bool waits = has(stream);
  remove(stream);
  stream.priority_ = priority;
  if (waits) add(stream);
}

void Scheduler::note_if_empty(std::uint8_t urgency) noexcept {
  if (levels_[urgency].empty()) levels_in_use_ &= static_cast<std::uint8_t>(~(1U << urgency));
}

Priority parse_priority(std::string_view text) noexcept {
  Priority priority{.urgency = 3, .incremental = false};  // The defaults of RFC 9218 §4.
  std::string_view member;
  while (http::next_list_element(text, member)) {
    member = http::trim_blanks(member.substr(0, member.find(';')));  // Parameters mean nothing.
    if (member == "i" || member == "i=?1") {
      priority.incremental = true;
    } else if (member == "i=?0") {
      priority.incremental = false;
    } else if (member.size() == 3 && member.starts_with("u=") && member[2] >= '0' &&
               member[2] < '0' + Priority::kLevels) {
      priority.urgency = static_cast<std::uint8_t>(member[2] - '0');
    }
  }
  return priority;
}

}  // namespace titanium::http2
