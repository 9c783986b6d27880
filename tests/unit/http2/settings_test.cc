// SPDX-License-Identifier: MIT
#include "http2/settings.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "unit/http2/support/frames.h"

namespace titanium::http2 {
namespace {

using List = std::initializer_list<std::pair<std::uint16_t, std::uint32_t>>;

std::optional<SettingsFault> apply(List list, PeerSettings& settings, Role role = Role::server) {
  const std::string frame = test::settings(list);
  return apply_settings(as_bytes(frame).subspan(kFrameHeaderBytes), role, settings);
}

TEST(PeerSettings, AreAppliedInOrder) {
  PeerSettings peer;
  EXPECT_FALSE(apply({{1, 0}, {3, 7}, {4, 5}, {5, 20'000}, {6, 1}, {8, 1}, {9, 1}, {4, 6}}, peer));
  EXPECT_TRUE(peer.received);
  EXPECT_EQ(peer.header_table_bytes, 0U);
  EXPECT_EQ(peer.concurrent_streams, 7U);
  EXPECT_EQ(peer.initial_window, 6U);
  EXPECT_EQ(peer.max_frame_bytes, 20'000U);
  EXPECT_TRUE(peer.extended_connect);
}

TEST(PeerSettings, WithoutALimitOfStreamsThereIsNone) {
  PeerSettings peer;
  EXPECT_EQ(peer.concurrent_streams, 100U);  // As long as nothing is known.
  EXPECT_FALSE(apply({}, peer));
  EXPECT_EQ(peer.concurrent_streams, std::numeric_limits<std::uint32_t>::max());
  EXPECT_FALSE(apply({{3, 5}}, peer));
  EXPECT_FALSE(apply({}, peer));
  EXPECT_EQ(peer.concurrent_streams, 5U);  // Later ones only change what they name.
}

struct Value {
  std::uint16_t id;
  std::uint32_t value;
  std::optional<ErrorCode> as_server;
  std::optional<ErrorCode> as_client;
};

TEST(PeerSettings, HaveRanges) {
  constexpr auto kProtocol = ErrorCode::protocol_error;
  constexpr auto kFlow = ErrorCode::flow_control_error;
  const Value values[] = {
      {1, 0xffff'ffff, {}, {}},
      {2, 0, {}, {}},
      {2, 1, {}, kProtocol},  // Only clients may allow push.
      {2, 2, kProtocol, kProtocol},
      {3, 0, {}, {}},
      {4, 0x7fff'ffff, {}, {}},
      {4, 0x8000'0000, kFlow, kFlow},
      {5, 16'383, kProtocol, kProtocol},
      {5, 16'384, {}, {}},
      {5, 16'777'215, {}, {}},
      {5, 16'777'216, kProtocol, kProtocol},
      {8, 2, kProtocol, kProtocol},
      {9, 1, {}, {}},
      {9, 2, kProtocol, kProtocol},
      {7, 0xffff'ffff, {}, {}},
      {0xffff, 0xffff'ffff, {}, {}},
  };
  for (const Value& v : values) {
    SCOPED_TRACE(testing::Message() << v.id << "=" << v.value);
    for (const Role role : {Role::server, Role::client}) {
      PeerSettings peer;
      const auto fault = apply({{v.id, v.value}}, peer, role);
      const auto expected = role == Role::server ? v.as_server : v.as_client;
      ASSERT_EQ(fault.has_value(), expected.has_value());
      if (fault) {
        EXPECT_EQ(fault->code, *expected);
      }
    }
  }
}

TEST(OwnSettings, OfferExtendedConnectOnlyIfItIsOn) {
  ChunkPool pool;
  ChunkQueue out(pool);
  write_own_settings(out, Role::server, {.concurrent_streams = 3, .extended_connect = false});
  std::vector<char> scratch;
  test::FrameReader reader;
  EXPECT_EQ(reader.read(out.peek_contiguous(scratch)),
            std::vector<std::string>{"SETTINGS 4=262144 6=65536 9=1 3=3"});
  out.clear();
}

}  // namespace
}  // namespace titanium::http2
