// SPDX-License-Identifier: MIT
//
// DESIGN: none per request in the steady state.
#include <gtest/gtest.h>

#include <string>

#include "http2/hpack/decoder.h"
#include "http2/hpack/encoder.h"
#include "support/counting_allocator.h"

namespace titanium::http2 {
namespace {

using test::allocations;

TEST(HpackAllocations, AreNoneInTheSteadyState) {
  HpackEncoder encoder;
  HpackDecoder decoder;
  FieldBlock block;
  std::string out;
  std::size_t before = 0;
  for (int i = 0; i < 4000; ++i) {
    if (i == 2000) before = allocations();
    // Indexed lines, lines that drive out others, and lines that are not indexed.
    char changing[64];
    const int size = std::snprintf(changing, sizeof changing, "/path-of-request-number/%d", i);
    out.clear();
    encoder.begin_block(out);
    encoder.add(out, ":method", "GET");
    encoder.add(out, ":path", {changing, static_cast<std::size_t>(size)});
    encoder.add(out, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64)");
    encoder.add(out, "X-Very-Long-Name-That-Does-Not-Fit-Into-A-Short-String", "value");
    encoder.add(out, "Date", {changing, static_cast<std::size_t>(size)}, http::KnownField::date);
    const auto outcome = decoder.decode(out, {}, Side::client, block);
    ASSERT_TRUE(outcome.has_value() && block.size() == 5);
  }
  EXPECT_EQ(allocations() - before, 0U);
}

TEST(HpackAllocations, AreNoneBeforeTheFirstBlock) {
  const std::size_t before = allocations();
  {
    const HpackEncoder encoder;
    const HpackDecoder decoder;
    const FieldBlock block;
  }
  EXPECT_EQ(allocations() - before, 0U);
}

}  // namespace
}  // namespace titanium::http2
