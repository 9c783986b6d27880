// SPDX-License-Identifier: MIT
//
// HPACK decoder (RFC 7541): field blocks to field lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/field.h"
#include "http2/hpack/dynamic_table.h"

namespace titanium::http2 {

// The field lines of one block. All texts are in one string, so that they can be kept as a whole
// for as long as a message needs them, and moved without a view dangling. clear() keeps memory.
class FieldBlock {
 public:
  struct Entry {
    std::uint32_t name_begin = 0;
    std::uint32_t name_bytes = 0;
    std::uint32_t value_begin = 0;
    std::uint32_t value_bytes = 0;
    http::KnownField known = http::KnownField::other;
    bool never_indexed = false;  // RFC 7541 §6.2.3: to be passed on in this form.
  };

  void clear() noexcept;
  void add(std::string_view name, std::string_view value, http::KnownField known,
           bool never_indexed);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  // Valid until the next add(), clear(), move or destruction.
  [[nodiscard]] std::string_view name(const Entry& entry) const noexcept {
    return std::string_view(text_).substr(entry.name_begin, entry.name_bytes);
  }
  [[nodiscard]] std::string_view value(const Entry& entry) const noexcept {
    return std::string_view(text_).substr(entry.value_begin, entry.value_bytes);
  }
  // RFC 9113 §6.5.2: name and value bytes plus 32 per line.
  [[nodiscard]] std::size_t list_bytes() const noexcept { return list_bytes_; }

 private:
  std::string text_;
  std::vector<Entry> entries_;
  std::size_t list_bytes_ = 0;
};

struct DecodeLimits {
  std::size_t list_bytes = 64 * 1024;  // limits.maxDecodedHeaderListBytes
  std::size_t fields = 256;            // limits.maxHeaderCount; pseudo-fields do not count.
};

class HpackDecoder {
 public:
  // `table_bytes`: SETTINGS_HEADER_TABLE_SIZE that we advertise.
  explicit HpackDecoder(std::uint32_t table_bytes = 4096);

  // Decodes one whole block. The dynamic table follows the block to its end also when the limits
  // are exceeded, so that the connection can go on: then `over_limit` is true, and `out` holds
  // what fitted.
  //
  // Errors: `protocol`, when the block is not HPACK: a COMPRESSION_ERROR of the connection
  // (RFC 9113 §4.3). This includes: an index out of range, a string or integer that overruns the
  // block or overflows, Huffman padding that is wrong or too long or EOS (RFC 7541 §5.2), a table
  // size update above `table_bytes` or not at the beginning of the block (§4.2), and a missing
  // size update after our advertised size was lowered.
  //
  // Cost: O(bytes of the block + bytes of `out`). Allocates only for the growth of `out` and of
  // the table. What a block may expand to is bounded by `limits` while it is decoded.
  struct Outcome {
    bool over_limit = false;
  };
  [[nodiscard]] Result<Outcome> decode(std::string_view block, const DecodeLimits& limits,
                                       Side peer, FieldBlock& out);

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  DynamicTable table_;
  std::uint32_t advertised_bytes_;
};

}  // namespace titanium::http2
