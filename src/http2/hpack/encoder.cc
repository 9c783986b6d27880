// SPDX-License-Identifier: MIT
#include "http2/hpack/encoder.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_words.h"
#include "http2/hpack/huffman.h"
#include "http2/hpack/integer.h"
#include "http2/hpack/static_table.h"

namespace titanium::http2 {
namespace {

constexpr std::uint32_t kInitialTableBytes = 4096;  // RFC 9113 §6.5.2.

// RFC 7541 §7.1.3: a short cookie can be guessed, by whoever sees how large requests are.
constexpr std::size_t kGuessableCookieBytes = 20;

enum class Treatment : std::uint8_t {
  indexed,        // The value is likely to come again.
  not_indexed,    // It is not.
  never_indexed,  // It is a secret.
  path,           // Depends on the value.
  cookie,         // Depends on the value.
};

struct TreatedName {
  std::string_view name;
  Treatment treatment;
};

// Names of the static table; its others are `indexed`.
constexpr auto kTreatedNames = std::to_array<TreatedName>({
    {":path", Treatment::path},
    {"age", Treatment::not_indexed},
    {"authorization", Treatment::never_indexed},
    {"content-length", Treatment::not_indexed},
    {"content-range", Treatment::not_indexed},
    {"cookie", Treatment::cookie},
    {"date", Treatment::not_indexed},
    {"etag", Treatment::not_indexed},
    {"expires", Treatment::not_indexed},
    {"if-match", Treatment::not_indexed},
    {"if-modified-since", Treatment::not_indexed},
    {"if-none-match", Treatment::not_indexed},
    {"if-range", Treatment::not_indexed},
    {"if-unmodified-since", Treatment::not_indexed},
    {"last-modified", Treatment::not_indexed},
    {"location", Treatment::not_indexed},
    {"proxy-authorization", Treatment::never_indexed},
    {"range", Treatment::not_indexed},
    {"retry-after", Treatment::not_indexed},
    {"set-cookie", Treatment::not_indexed},
});

constexpr auto kTreatmentOfStatic = [] {
  std::array<Treatment, kStaticRows.size()> treatments{};
  for (const TreatedName& row : kTreatedNames) {
    for (std::size_t i = 1; i < treatments.size(); ++i) {
      if (kStaticRows[i].name == row.name) treatments[i] = row.treatment;
    }
  }
  return treatments;
}();

// Names that are not in the static table, and whose values do not come again.
constexpr auto kChangingNames = std::to_array<std::string_view>(
    {"sec-websocket-accept", "sec-websocket-key", "traceparent", "x-request-id"});

Treatment treatment_of(std::uint32_t static_index, std::string_view name) noexcept {
  if (static_index != 0) return kTreatmentOfStatic[static_index];
  return std::ranges::contains(kChangingNames, name) ? Treatment::not_indexed : Treatment::indexed;
}

// Decides what depends on the value: the result is one of the first three.
Treatment settle(Treatment treatment, std::string_view value) noexcept {
  switch (treatment) {
    case Treatment::path:
      return value.contains('?') ? Treatment::not_indexed : Treatment::indexed;
    case Treatment::cookie:
      return value.size() < kGuessableCookieBytes ? Treatment::never_indexed : Treatment::indexed;
    default:
      return treatment;
  }
}

// The string as it is, or in Huffman code if that is shorter (RFC 7541 §5.2).
void put_string(std::string& out, std::string_view text) {
  const std::size_t encoded_bytes = huffman_encoded_bytes(text);
  if (encoded_bytes >= text.size()) {
    put_integer(out, 0, 7, static_cast<std::uint32_t>(text.size()));
    out.append(text);
    return;
  }
  put_integer(out, 0x80, 7, static_cast<std::uint32_t>(encoded_bytes));
  const std::size_t begin = out.size();
  out.resize_and_overwrite(begin + encoded_bytes, [&](char* bytes, std::size_t size) {
    huffman_encode(text, bytes + begin);
    return size;
  });
}

}  // namespace

HpackEncoder::HpackEncoder(std::uint32_t most_table_bytes) noexcept
    : table_(kInitialTableBytes, DynamicTable::Search::by_text), most_bytes_(most_table_bytes) {
  wanted_bytes_ = lowest_bytes_ = std::min(most_bytes_, kInitialTableBytes);
}

void HpackEncoder::set_peer_table_bytes(std::uint32_t bytes) noexcept {
  wanted_bytes_ = std::min(most_bytes_, bytes);
  lowest_bytes_ = std::min(lowest_bytes_, wanted_bytes_);
}

void HpackEncoder::begin_block(std::string& out) {
  if (lowest_bytes_ < std::min(table_.max_bytes(), wanted_bytes_)) announce(out, lowest_bytes_);
  if (wanted_bytes_ != table_.max_bytes()) announce(out, wanted_bytes_);
  lowest_bytes_ = wanted_bytes_;
}

void HpackEncoder::announce(std::string& out, std::uint32_t table_bytes) {
  put_integer(out, 0x20, 5, table_bytes);
  table_.set_max_bytes(table_bytes);
}

// Flat: what is done for a line are some small functions, of which the optimiser makes calls. Worth
// 6 % of the instructions that the proxy spends on a request from HTTP/2 to HTTP/2 (with -O2).
[[gnu::flatten]] void HpackEncoder::add(std::string& out, std::string_view name,
                                        std::string_view value, http::KnownField known,
                                        Indexing indexing) {
  name = in_lower_case(name, known);
  LineHash hash{.name = hash_text(name)};
  if (indexing == Indexing::automatic) {
    // Most lines are in a table as they are. Credentials never are: they are not added.
    hash.line = hash_text(value, hash.name);
    if (const std::uint32_t index = find_static_line(name, value, hash.line); index != 0) {
      return put_integer(out, 0x80, 7, index);
    }
    const std::uint32_t age = table_.find_line(name, value, hash.line);
    if (age != DynamicTable::kNoLine) {
      return put_integer(out, 0x80, 7, kFirstDynamicIndex + age);
    }
  }
  put_literal(out, name, value, hash, indexing);
}

std::string_view HpackEncoder::in_lower_case(std::string_view name, http::KnownField known) {
  if (!has_upper_case(name)) return name;
  if (const std::uint32_t index = static_index_of(known); index != 0) {
    return kStaticRows[index].name;
  }
  lower_case_name_.resize_and_overwrite(name.size(), [&](char* out, std::size_t size) {
    std::ranges::transform(name, out, to_lower);
    return size;
  });
  return lower_case_name_;
}

void HpackEncoder::put_literal(std::string& out, std::string_view name, std::string_view value,
                               LineHash hash, Indexing indexing) {
  std::uint32_t index = find_static_name(name, hash.name);
  const Treatment treatment = indexing == Indexing::never
                                  ? Treatment::never_indexed
                                  : settle(treatment_of(index, name), value);
  if (index == 0) {
    const std::uint32_t age = table_.find_name(name, hash.name);
    if (age != DynamicTable::kNoLine) index = kFirstDynamicIndex + age;
  }
  const std::size_t bytes = name.size() + value.size() + DynamicTable::kEntryOverhead;
  const bool to_be_added = treatment == Treatment::indexed && bytes <= table_.max_bytes() / 2;
  if (to_be_added) {
    put_integer(out, 0x40, 6, index);
  } else {
    put_integer(out, treatment == Treatment::never_indexed ? 0x10 : 0x00, 4, index);
  }
  if (index == 0) put_string(out, name);
  put_string(out, value);
  if (to_be_added) table_.insert(name, value, http::KnownField::other, hash);
}

}  // namespace titanium::http2
