// SPDX-License-Identifier: MIT
//
// HPACK decoder (RFC 7541): field blocks to field lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/field.h"
#include "http2/hpack/dynamic_table.h"
#include "http2/hpack/table_line.h"

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

  void clear() noexcept {
    text_.clear();
    entries_.clear();
    list_bytes_ = 0;
  }
  // For a typical head, if there is no memory yet: it is not to grow line by line.
  void reserve() {
    if (entries_.capacity() > 0) return;
    entries_.reserve(kTypicalFields);
    text_.reserve(kTypicalTextBytes);
  }
  // Copies. The texts must not be those of this block.
  void add(std::string_view name, std::string_view value, http::KnownField known,
           bool never_indexed);
  void add(const TableLine& line);

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
  static constexpr std::size_t kTypicalFields = 16;
  static constexpr std::size_t kTypicalTextBytes = 500;

  std::string text_;
  std::vector<Entry> entries_;
  std::size_t list_bytes_ = 0;
};

struct DecodeLimits {
  std::size_t list_bytes = 64 * 1024;  // limits.maxDecodedHeaderListBytes
  std::size_t fields = 256;            // limits.maxHeaderCount; pseudo-fields do not count.
};

// SETTINGS_HEADER_TABLE_SIZE before any SETTINGS (RFC 9113 §6.5.2).
inline constexpr std::uint32_t kDefaultTableBytes = 4096;

class HpackDecoder {
 public:
  // `table_bytes`: SETTINGS_HEADER_TABLE_SIZE of our first SETTINGS. A value below the default is
  // nothing that the peer can know of yet: it counts from table_bytes_acknowledged() on.
  explicit HpackDecoder(std::uint32_t table_bytes = kDefaultTableBytes) noexcept;

  // The peer has acknowledged SETTINGS with this SETTINGS_HEADER_TABLE_SIZE. If its encoder uses
  // more, the next block has to begin with a table size update (RFC 9113 §4.3.1).
  void table_bytes_acknowledged(std::uint32_t bytes) noexcept;

  // Decodes one whole block into `out`, which is cleared first. The dynamic table follows the block
  // to its end also when the limits are exceeded, so that the connection can go on: then
  // `over_limit` is true, and `out` holds the lines before the first one that did not fit.
  //
  // Errors: `protocol`, when the block is not HPACK: a COMPRESSION_ERROR of the connection
  // (RFC 9113 §4.3), which must not use this decoder again. This includes: an index out of range, a
  // string or integer that overruns the block or overflows, Huffman padding that is wrong or too
  // long or EOS (RFC 7541 §5.2), a table size update above what we allow or not at the beginning of
  // the block (§4.2), and a missing size update after our advertised size was lowered.
  //
  // Cost: O(bytes of the block + bytes of `out`). Allocates only for the growth of `out`, of the
  // table and of one decoded line. What a block may expand to is bounded by `limits` while it is
  // decoded.
  struct Outcome {
    bool over_limit = false;
  };
  [[nodiscard]] Result<Outcome> decode(std::string_view block, const DecodeLimits& limits,
                                       Side peer, FieldBlock& out);

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  // One decode().
  struct Run;

  [[nodiscard]] std::string_view take_instructions(Run& run);
  [[nodiscard]] std::string_view resize_table(Run& run);
  [[nodiscard]] std::string_view take_indexed(Run& run);
  [[nodiscard]] std::string_view take_literal(Run& run);
  [[nodiscard]] std::optional<TableLine> find(std::uint32_t index) const noexcept;

  DynamicTable table_;
  std::uint32_t allowed_bytes_;  // What a table size update may ask for.
  // The lowest size that was acknowledged below what the peer's encoder uses: its next block has to
  // begin with an update to at most this.
  std::optional<std::uint32_t> owed_bytes_;
  std::string name_;  // Texts of one line, where they are not in the block as they are.
  std::string value_;
};

}  // namespace titanium::http2
