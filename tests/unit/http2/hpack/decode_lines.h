// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "unit/http2/hpack/field_lines.h"

namespace titanium::test {

// The block's lines; a failure of the test if it is not HPACK.
inline FieldLines decode_lines(http2::HpackDecoder& decoder, std::string_view bytes) {
  http2::FieldBlock block;
  const auto outcome = decoder.decode(bytes, {}, Side::client, block);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().what;
  EXPECT_FALSE(outcome.has_value() && outcome->over_limit);
  return lines_of(block);
}

}  // namespace titanium::test
