// SPDX-License-Identifier: MIT
#include "http2/hpack/static_table.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text_words.h"

namespace titanium::http2 {
namespace {

constexpr auto& kRows = kStaticRows;

constexpr std::size_t kTextBytes = [] {
  std::size_t bytes = 0;
  for (const StaticRow& row : kRows) bytes += row.name.size() + row.value.size();
  return bytes;
}();

// All names and values in one piece, so that those of a line are, too.
constexpr auto kText = [] {
  std::array<char, kTextBytes> text{};
  auto out = text.begin();
  for (const StaticRow& row : kRows) {
    out = std::ranges::copy(row.name, out).out;
    out = std::ranges::copy(row.value, out).out;
  }
  return text;
}();

constexpr auto kLines = [] {
  std::array<TableLine, kRows.size()> lines{};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const std::size_t bytes = kRows[i].name.size() + kRows[i].value.size();
    lines[i] = {.text = std::string_view(kText.data(), kText.size()).substr(begin, bytes),
                .name_bytes = static_cast<std::uint32_t>(kRows[i].name.size()),
                .known = kRows[i].known};
    begin += bytes;
  }
  return lines;
}();
static_assert(kLines[2].name() == ":method" && kLines[2].value() == "GET");
static_assert(kLines[kStaticLines].name() == "www-authenticate");

// The first lines of each name, by hash; a slot that is taken is followed by the next one.
constexpr std::size_t kSlots = 256;
constexpr auto kSlotOfName = [] {
  std::array<std::uint8_t, kSlots> slots{};
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == kRows[i - 1].name) continue;
    std::size_t slot = hash_text(kRows[i].name) % kSlots;
    while (slots[slot] != 0) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<std::uint8_t>(i);
  }
  return slots;
}();

// The same for the lines with values, by the hash of both.
struct LineSlot {
  std::uint32_t hash = 0;
  std::uint8_t index = 0;
};
constexpr std::size_t kLineSlots = 64;
constexpr auto kSlotOfLine = [] {
  std::array<LineSlot, kLineSlots> slots{};
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].value.empty()) continue;
    const std::uint32_t hash = hash_text(kRows[i].value, hash_text(kRows[i].name));
    std::size_t slot = hash % kLineSlots;
    while (slots[slot].index != 0) slot = (slot + 1) % kLineSlots;
    slots[slot] = {.hash = hash, .index = static_cast<std::uint8_t>(i)};
  }
  return slots;
}();

}  // namespace

TableLine static_line(std::uint32_t index) noexcept { return kLines[index]; }

std::uint32_t find_static_name(std::string_view name, std::uint32_t hash) noexcept {
  for (std::size_t slot = hash % kSlots; kSlotOfName[slot] != 0; slot = (slot + 1) % kSlots) {
    if (same_text(kLines[kSlotOfName[slot]].name(), name)) return kSlotOfName[slot];
  }
  return 0;
}

std::uint32_t find_static_line(std::string_view name, std::string_view value,
                               std::uint32_t hash) noexcept {
  for (std::size_t slot = hash % kLineSlots; kSlotOfLine[slot].index != 0;
       slot = (slot + 1) % kLineSlots) {
    if (kSlotOfLine[slot].hash != hash) continue;
    const TableLine& line = kLines[kSlotOfLine[slot].index];
    if (same_text(line.name(), name) && same_text(line.value(), value)) {
      return kSlotOfLine[slot].index;
    }
  }
  return 0;
}

}  // namespace titanium::http2
