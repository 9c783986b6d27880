// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "origin/content.h"
#include "origin/grpc.h"

namespace titanium::probe {
namespace {

TEST(GrpcMessage, HasItsLengthInFront) {
  for (const std::uint32_t bytes : {0U, 1U, 64U, 300U, 70'000U}) {
    const std::string message = make_grpc_message(bytes);
    ASSERT_EQ(message.size(), kGrpcPrefixBytes + bytes);
    EXPECT_TRUE(is_one_grpc_message(message, message.size())) << bytes;
    EXPECT_FALSE(is_one_grpc_message(message, message.size() + 1)) << bytes;
    EXPECT_FALSE(is_one_grpc_message(message, message.size() - 1)) << bytes;
  }
  EXPECT_EQ(make_grpc_message(300).substr(0, 7),
            std::string("\0\0\0\1\x2c", 5).append(pattern().substr(0, 2)));
}

TEST(GrpcMessage, IsNoneIfItIsCutOrCompressed) {
  EXPECT_FALSE(is_one_grpc_message("", 0));
  EXPECT_FALSE(is_one_grpc_message(std::string(4, '\0'), 4));
  EXPECT_FALSE(is_one_grpc_message(std::string("\1\0\0\0\0", 5), 5));
  EXPECT_TRUE(is_one_grpc_message(std::string(5, '\0'), 5));
}

}  // namespace
}  // namespace titanium::probe
