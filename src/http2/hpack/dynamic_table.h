// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace titanium::http2 {

// The dynamic table of one direction (RFC 7541 §2.3.2, §4). To be written: a ring of bytes and
// entries that does not allocate in the steady state, and for the encoder an index by hash.
class DynamicTable;

}  // namespace titanium::http2
