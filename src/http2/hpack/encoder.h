// SPDX-License-Identifier: MIT
//
// HPACK encoder (RFC 7541): field lines to field blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/field.h"
#include "http2/hpack/dynamic_table.h"

namespace titanium::http2 {

// How a field line is to be represented (RFC 7541 §6.2).
enum class Indexing : std::uint8_t {
  automatic,  // Indexed if the table has it; else added, if it is likely to come again.
  never,      // Never indexed, neither by us nor by whoever comes next.
};

class HpackEncoder {
 public:
  // `most_table_bytes`: what we use of the table that the peer allows.
  explicit HpackEncoder(std::uint32_t most_table_bytes = 4096) noexcept;

  // The peer's SETTINGS_HEADER_TABLE_SIZE. The change is announced at the beginning of the next
  // block (§4.2); if it went down and up in between, the lowest value first.
  void set_peer_table_bytes(std::uint32_t bytes) noexcept;

  // A block is begin_block(), then add() for each line, in this order on the wire.
  void begin_block(std::string& out);
  // Appends the line to `out`. `name` may come in any case and leaves in lower case (RFC 9113
  // §8.2.1). `known` spares the look-up of the name; pass `other` if it is unknown. No text may be
  // that of `out`.
  //
  // Values that change with every message (content-length, date, ETags, path with a query …), and
  // lines that would fill half of the table, are not put into it, where they would drive out what
  // comes again; credentials (authorization, cookies shorter than 20 bytes: RFC 7541 §7.1.3) are
  // never indexed.
  //
  // Cost: O(name + value), one table look-up, no allocation in the steady state.
  void add(std::string& out, std::string_view name, std::string_view value,
           http::KnownField known = http::KnownField::other,
           Indexing indexing = Indexing::automatic);

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  [[nodiscard]] std::string_view in_lower_case(std::string_view name, http::KnownField known);
  void put_literal(std::string& out, std::string_view name, std::string_view value, LineHash hash,
                   Indexing indexing);
  void announce(std::string& out, std::uint32_t table_bytes);

  DynamicTable table_;
  std::uint32_t most_bytes_;
  std::uint32_t wanted_bytes_;  // The table's size from the next block on.
  std::uint32_t lowest_bytes_;  // The lowest that was wanted since the last block.
  std::string lower_case_name_;
};

}  // namespace titanium::http2
