// SPDX-License-Identifier: MIT
#include "http2/hpack/decoder.h"

#include <algorithm>

#include "http2/hpack/huffman.h"
#include "http2/hpack/integer.h"
#include "http2/hpack/static_table.h"

namespace titanium::http2 {
namespace {

constexpr std::uint32_t kLineOverhead = DynamicTable::kEntryOverhead;  // RFC 9113 §6.5.2: the same.
// Memory for decoded texts that is kept from block to block; what one huge line needed is freed.
constexpr std::size_t kKeptTextBytes = 16 * 1024;

// The first bits of an instruction (RFC 7541 §6).
constexpr std::uint8_t kIndexed = 0x80;
constexpr std::uint8_t kLiteralToBeIndexed = 0x40;
constexpr std::uint8_t kTableSize = 0x20;
constexpr std::uint8_t kLiteralNeverIndexed = 0x10;
constexpr std::uint8_t kHuffman = 0x80;

// What is wrong with a block; empty: nothing.
constexpr std::string_view kFine = {};
constexpr std::string_view kBadInteger = "HPACK: integer cut short or too large";
constexpr std::string_view kBadIndex = "HPACK: no line has this index";
constexpr std::string_view kCutString = "HPACK: string longer than its block";
constexpr std::string_view kBadHuffman = "HPACK: malformed Huffman code";
constexpr std::string_view kLateTableSize = "HPACK: table size update within a block";
constexpr std::string_view kTableTooLarge = "HPACK: table size above the setting";
constexpr std::string_view kNoTableSize = "HPACK: no table size update after a lower setting";

// Takes a string (RFC 7541 §5.2). `text` is in the block if it was not encoded, else in `decoded`.
[[nodiscard]] std::string_view take_string(std::string_view& rest, std::string& decoded,
                                           std::string_view& text) {
  const bool huffman = !rest.empty() && (static_cast<unsigned char>(rest.front()) & kHuffman) != 0;
  const auto bytes = take_integer(rest, 7);
  if (!bytes) return kBadInteger;
  if (*bytes > rest.size()) return kCutString;
  text = rest.substr(0, *bytes);
  rest.remove_prefix(*bytes);
  if (!huffman) return kFine;

  std::optional<std::size_t> written;
  decoded.resize_and_overwrite(huffman_most_decoded_bytes(text.size()),
                               [&](char* out, std::size_t) {
                                 written = huffman_decode(text, out);
                                 return written.value_or(0);
                               });
  if (!written) return kBadHuffman;
  text = decoded;
  return kFine;
}

void free_if_huge(std::string& text) {
  if (text.capacity() <= kKeptTextBytes) return;
  text.clear();
  text.shrink_to_fit();
}

}  // namespace

void FieldBlock::add(std::string_view name, std::string_view value, http::KnownField known,
                     bool never_indexed) {
  const auto begin = static_cast<std::uint32_t>(text_.size());
  const auto name_bytes = static_cast<std::uint32_t>(name.size());
  text_.append(name).append(value);
  entries_.push_back({.name_begin = begin,
                      .name_bytes = name_bytes,
                      .value_begin = begin + name_bytes,
                      .value_bytes = static_cast<std::uint32_t>(value.size()),
                      .known = known,
                      .never_indexed = never_indexed});
  list_bytes_ += name.size() + value.size() + kLineOverhead;
}

void FieldBlock::add(const TableLine& line) {
  const auto begin = static_cast<std::uint32_t>(text_.size());
  text_.append(line.text);
  entries_.push_back({.name_begin = begin,
                      .name_bytes = line.name_bytes,
                      .value_begin = begin + line.name_bytes,
                      .value_bytes = static_cast<std::uint32_t>(line.text.size()) - line.name_bytes,
                      .known = line.known,
                      .never_indexed = false});
  list_bytes_ += line.text.size() + kLineOverhead;
}

struct HpackDecoder::Run {
  std::string_view rest;
  const DecodeLimits& limits;
  FieldBlock& out;
  std::size_t fields = 0;  // That count against the limit.
  bool over_limit = false;

  // Whether the line is to be added. False from the first one on that does not fit.
  bool accepts(std::string_view name, std::size_t bytes) noexcept {
    if (over_limit) return false;
    if (!name.starts_with(':')) ++fields;
    over_limit =
        fields > limits.fields || out.list_bytes() + bytes + kLineOverhead > limits.list_bytes;
    return !over_limit;
  }
};

HpackDecoder::HpackDecoder(std::uint32_t table_bytes) noexcept
    : table_(kDefaultTableBytes, DynamicTable::Search::by_age),
      allowed_bytes_(std::max(table_bytes, kDefaultTableBytes)) {}

void HpackDecoder::table_bytes_acknowledged(std::uint32_t bytes) noexcept {
  allowed_bytes_ = bytes;
  if (bytes < table_.max_bytes()) owed_bytes_ = std::min(bytes, owed_bytes_.value_or(bytes));
}

Result<HpackDecoder::Outcome> HpackDecoder::decode(std::string_view block,
                                                   const DecodeLimits& limits, Side peer,
                                                   FieldBlock& out) {
  out.clear();
  out.reserve();
  Run run{.rest = block, .limits = limits, .out = out};
  const std::string_view wrong = take_instructions(run);
  free_if_huge(name_);
  free_if_huge(value_);
  if (!wrong.empty()) return protocol_error(wrong, peer);
  return Outcome{.over_limit = run.over_limit};
}

std::string_view HpackDecoder::take_instructions(Run& run) {
  // RFC 7541 §4.2: table size updates come before all lines.
  while (!run.rest.empty() && (static_cast<unsigned char>(run.rest.front()) >> 5) == 1) {
    if (const auto wrong = resize_table(run); !wrong.empty()) return wrong;
  }
  if (owed_bytes_) return kNoTableSize;
  while (!run.rest.empty()) {
    const bool indexed = (static_cast<unsigned char>(run.rest.front()) & kIndexed) != 0;
    const std::string_view wrong = indexed ? take_indexed(run) : take_literal(run);
    if (!wrong.empty()) return wrong;
  }
  return kFine;
}

std::string_view HpackDecoder::resize_table(Run& run) {
  const auto bytes = take_integer(run.rest, 5);
  if (!bytes) return kBadInteger;
  if (*bytes > std::min(allowed_bytes_, owed_bytes_.value_or(allowed_bytes_))) {
    return kTableTooLarge;
  }
  owed_bytes_.reset();
  table_.set_max_bytes(*bytes);
  return kFine;
}

std::optional<TableLine> HpackDecoder::find(std::uint32_t index) const noexcept {
  if (index == 0) return std::nullopt;
  if (index <= kStaticLines) return static_line(index);
  const std::uint32_t age = index - kFirstDynamicIndex;
  if (age >= table_.count()) return std::nullopt;
  return table_.at(age);
}

std::string_view HpackDecoder::take_indexed(Run& run) {
  const auto index = take_integer(run.rest, 7);
  if (!index) return kBadInteger;
  const auto line = find(*index);
  if (!line) return kBadIndex;
  if (run.accepts(line->name(), line->text.size())) run.out.add(*line);
  return kFine;
}

std::string_view HpackDecoder::take_literal(Run& run) {
  const auto first = static_cast<unsigned char>(run.rest.front());
  const bool to_be_indexed = (first & kLiteralToBeIndexed) != 0;
  if (!to_be_indexed && (first & kTableSize) != 0) return kLateTableSize;
  const auto index = take_integer(run.rest, to_be_indexed ? 6 : 4);
  if (!index) return kBadInteger;

  std::string_view name;
  std::string_view value;
  auto known = http::KnownField::other;
  if (*index == 0) {
    if (const auto wrong = take_string(run.rest, name_, name); !wrong.empty()) return wrong;
    known = http::find_known_field(name);
  } else {
    const auto line = find(*index);
    if (!line) return kBadIndex;
    name = line->name();
    known = line->known;
    // RFC 7541 §4.4: the line that has the name may be evicted for the one that is added.
    if (to_be_indexed && *index >= kFirstDynamicIndex) name = name_.assign(name);
  }
  if (const auto wrong = take_string(run.rest, value_, value); !wrong.empty()) return wrong;

  if (run.accepts(name, name.size() + value.size())) {
    run.out.add(name, value, known, !to_be_indexed && (first & kLiteralNeverIndexed) != 0);
  }
  if (to_be_indexed) table_.insert(name, value, known);
  return kFine;
}

}  // namespace titanium::http2
