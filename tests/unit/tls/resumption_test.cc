// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tls/client_context.h"
#include "tls/server_context.h"
#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using std::chrono::seconds;

class Resumption : public TlsTest {
 protected:
  Resumption() { server_options.ticket_rotation = seconds{100}; }

  void SetUp() override {
    make_contexts();
    server_context->impl().tickets.set_clock([this] { return now; });
  }
  std::chrono::steady_clock::time_point now{};

  bool connect_and_see_resumption() {
    connect();
    EXPECT_EQ(client.transport->resumed(), server.transport->resumed());
    return client.transport->resumed();
  }
};

TEST_F(Resumption, HappensFromTheSecondConnectionOnAndIsCounted) {
  for (const auto maximum : {TlsVersion::tls12, TlsVersion::tls13}) {
    SCOPED_TRACE(static_cast<int>(maximum));
    server_context.reset();
    client_context.reset();
    server_options.maximum = maximum;
    EXPECT_FALSE(connect_and_see_resumption());
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(connect_and_see_resumption());
    EXPECT_EQ(server_context->counters().handshakes, 6U);
    EXPECT_EQ(server_context->counters().resumptions, 5U);
    EXPECT_EQ(client_context->counters().resumptions, 5U);
    EXPECT_EQ(client.transport->alpn(), "http/1.1");
  }
}

TEST_F(Resumption, UsesEachTls13SessionOnce) {
  connect();
  ASSERT_EQ(client_context->impl().sessions.size(), 2U) << "two tickets after a full handshake";
  start();
  EXPECT_EQ(client_context->impl().sessions.size(), 1U) << "taken out for use";
  turn();
  EXPECT_EQ(client_context->impl().sessions.size(), 2U) << "one new ticket after resumption";
}

TEST_F(Resumption, SurvivesRotationWhileTheKeyIsKept) {
  for (const auto maximum : {TlsVersion::tls12, TlsVersion::tls13}) {
    for (int rotations = 0; rotations <= 5; ++rotations) {
      SCOPED_TRACE(rotations);
      server_context.reset();
      client_context.reset();
      server_options.maximum = maximum;
      SetUp();
      ASSERT_FALSE(connect_and_see_resumption());
      now += rotations * seconds{100};
      EXPECT_EQ(connect_and_see_resumption(), rotations < 4);
      EXPECT_TRUE(connect_and_see_resumption()) << "with a ticket of the new key";
    }
  }
}

TEST_F(Resumption, WorksAcrossTheCertificatesOfAContext) {
  server_context.reset();
  server_options.key_pairs.push_back(authority.issue({"other.example"}));
  SetUp();
  connect();
  // The client may be sent to another certificate by another name; the ticket opens there too, but
  // a client keeps its sessions by name.
  connect("other.example");
  EXPECT_FALSE(client.transport->resumed());
  EXPECT_TRUE((connect(), client.transport->resumed()));
  EXPECT_TRUE((connect("other.example"), client.transport->resumed()));
}

TEST_F(Resumption, DoesNotHappenWithoutACache) {
  client_context.reset();
  client_options.cached_sessions = 0;
  SetUp();
  EXPECT_FALSE(connect_and_see_resumption());
  EXPECT_FALSE(connect_and_see_resumption());
}

TEST_F(Resumption, DoesNotHappenWithAnotherServer) {
  connect();
  server_context.reset();  // A restart: other ticket keys.
  SetUp();
  EXPECT_FALSE(connect_and_see_resumption());
}

}  // namespace
}  // namespace titanium::tls
