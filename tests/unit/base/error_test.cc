// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <gtest/gtest.h>

namespace titanium {
namespace {

TEST(ProtocolError, NamesTheSideThatIsToBlame) {
  const Error error = protocol_error("why", Side::origin).error();
  EXPECT_EQ(error.code, Code::protocol);
  EXPECT_EQ(error.side, Side::origin);
  EXPECT_EQ(error.retry, Retry::never);
  EXPECT_EQ(error.status, 0);
  EXPECT_EQ(error.what, "why");
}

TEST(LimitError, SaysWhatToAnswer) {
  const Error error = limit_error("why", Side::client, 431).error();
  EXPECT_EQ(error.code, Code::limit);
  EXPECT_EQ(error.side, Side::client);
  EXPECT_EQ(error.status, 431);
}

TEST(Error, BlamesUsUnlessSomebodySaysOtherwise) {
  constexpr Error kError;
  EXPECT_EQ(kError.code, Code::internal);
  EXPECT_EQ(kError.side, Side::self);
  EXPECT_EQ(kError.retry, Retry::never);
}

}  // namespace
}  // namespace titanium
