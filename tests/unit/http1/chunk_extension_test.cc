// SPDX-License-Identifier: MIT
#include "http1/chunk_extension.h"

#include <gtest/gtest.h>

namespace titanium::http1 {
namespace {

TEST(ChunkExtension, FollowsTheGrammarOfTheRfc) {
  for (const std::string_view good :
       {"", ";a", ";a;b", ";a=b", ";a=\"\"", ";a=\"b c;d\\\"e\"", " ;a", "\t; a", ";a =b", ";a= b",
        ";a ;b", ";a=b ;c", ";a=\"b\" ; c"}) {
    EXPECT_TRUE(is_chunk_extension(good)) << good;
  }
}

TEST(ChunkExtension, RefusesTheRest) {
  for (const std::string_view bad :
       {" ",        "\t",        "a",    ";",    ";;",    ";a;",   ";=b",    ";a=",
        ";a==b",    ";a=b c",    ";a b", ";a ",  ";a=b ", ";a=\"", ";a=\"b", ";a=\"b\\\"",
        ";a=\"b\\", ";a=\"b\"c", ",a",   ";a,b", ";\x80", ";a= "}) {
    EXPECT_FALSE(is_chunk_extension(bad)) << bad;
  }
}

}  // namespace
}  // namespace titanium::http1
