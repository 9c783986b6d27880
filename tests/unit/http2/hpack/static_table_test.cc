// SPDX-License-Identifier: MIT
#include "http2/hpack/static_table.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>

#include "base/text_words.h"

namespace titanium::http2 {
namespace {

TEST(StaticTable, HasTheLinesThatNghttp2Has) {
  nghttp2_hd_inflater* inflater = nullptr;
  ASSERT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
  const std::unique_ptr<nghttp2_hd_inflater, decltype(&nghttp2_hd_inflate_del)> owner(
      inflater, nghttp2_hd_inflate_del);
  for (std::uint32_t index = 1; index <= kStaticLines; ++index) {
    const std::string block(1, static_cast<char>(0x80 | index));
    nghttp2_nv line{};
    int flags = 0;
    ASSERT_EQ(nghttp2_hd_inflate_hd2(inflater, &line, &flags,
                                     reinterpret_cast<const std::uint8_t*>(block.data()), 1, 1),
              1);
    EXPECT_EQ(static_line(index).name(),
              std::string_view(reinterpret_cast<char*>(line.name), line.namelen));
    EXPECT_EQ(static_line(index).value(),
              std::string_view(reinterpret_cast<char*>(line.value), line.valuelen));
    nghttp2_hd_inflate_end_headers(inflater);
  }
}

TEST(StaticTable, KnowsEachFieldThatTheProxyActsOn) {
  for (std::uint32_t index = 1; index <= kStaticLines; ++index) {
    const TableLine line = static_line(index);
    EXPECT_EQ(line.known, http::find_known_field(line.name())) << line.name();
    if (line.known == http::KnownField::other) continue;
    EXPECT_EQ(static_index_of(line.known), index);
  }
  EXPECT_EQ(static_index_of(http::KnownField::other), 0U);
  EXPECT_EQ(static_index_of(http::KnownField::x_forwarded_for), 0U);
}

TEST(StaticTable, FindsTheFirstLineOfEachName) {
  std::uint32_t first = 0;
  for (std::uint32_t index = 1; index <= kStaticLines; ++index) {
    const std::string_view name = static_line(index).name();
    if (first == 0 || static_line(first).name() != name) first = index;
    EXPECT_EQ(find_static_name(name, hash_text(name)), first) << name;
  }
  for (const std::string_view name : {"", ":", ":statu", "Accept", "accept-", "x-forwarded-for"}) {
    EXPECT_EQ(find_static_name(name, hash_text(name)), 0U) << name;
  }
}

TEST(StaticTable, FindsEachLineThatHasAValue) {
  const auto find = [](std::string_view name, std::string_view value) {
    return find_static_line(name, value, hash_text(value, hash_text(name)));
  };
  for (std::uint32_t index = 1; index <= kStaticLines; ++index) {
    const TableLine line = static_line(index);
    EXPECT_EQ(find(line.name(), line.value()), line.value().empty() ? 0U : index) << line.name();
    EXPECT_EQ(find(line.name(), "other"), 0U);
  }
  // Texts of the same hash.
  EXPECT_EQ(find_static_line(":method", "PUT", hash_text("GET", hash_text(":method"))), 0U);
  EXPECT_EQ(find_static_line(":methodG", "ET", hash_text("GET", hash_text(":method"))), 0U);
}

}  // namespace
}  // namespace titanium::http2
