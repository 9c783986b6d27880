// SPDX-License-Identifier: MIT
#include "proxy/origin/origin_pool.h"

#include <gmock/gmock.h>

#include "unit/proxy/http2_fixture.h"

namespace titanium::proxy::testing {
namespace {

namespace frames = http2::test;
using frames::kEnd;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Ne;

using OriginPoolTest = Http2ProxyTest;

// Nobody can know before the origin's SETTINGS are here.
TEST_F(OriginPoolTest, AnswersAWebSocketThatWaitedForAnOriginWithoutThem) {
  add_endpoint();
  start();
  const auto client = connect_http2();
  client->send(websocket(1));
  const auto origin = accept_http2();
  EXPECT_THAT(wait_for(*client, "HEADERS 1"), HasSubstr(":status=501"));
  // The origin is well, and its connection stays in use.
  client->send(frames::get(3));
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "204", kEnd));
  EXPECT_THAT(wait_for(*client, "HEADERS 3"), HasSubstr(":status=204"));
  EXPECT_FALSE(origin_has_connection(0));
  EXPECT_FALSE(origin_has_connection(1));
  EXPECT_EQ(verdicts().size(), 2U);
  EXPECT_THAT(verdicts(), Each(Field(&Verdict::outcome, Ne(Outcome::failed))));
}

TEST_F(OriginPoolTest, AnswersAWebSocketForAnOriginThatIsKnownToTakeNoneAtOnce) {
  add_endpoint();
  start();
  const auto client = connect_http2();
  client->send(frames::get(1));
  const auto origin = accept_http2();
  wait_for(*origin, "HEADERS 1");
  origin->send(respond(1, "204", kEnd));
  wait_for(*client, "HEADERS 1");
  client->send(websocket(3));
  EXPECT_THAT(wait_for(*client, "HEADERS 3"), HasSubstr(":status=501"));
  pump();
  EXPECT_FALSE(origin_has_connection(0));
  EXPECT_FALSE(origin_has_connection(1));
  EXPECT_EQ(verdicts().size(), 2U);
  EXPECT_THAT(verdicts(), Each(Field(&Verdict::outcome, Ne(Outcome::failed))));
}

}  // namespace
}  // namespace titanium::proxy::testing
