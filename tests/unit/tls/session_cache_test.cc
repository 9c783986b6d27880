// SPDX-License-Identifier: MIT
#include "tls/session_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace titanium::tls {
namespace {

SslSession make_session(int version) {
  SslSession session(SSL_SESSION_new());
  // Without an identifier OpenSSL takes a session for one that cannot be resumed.
  const unsigned char id[] = {1};
  SSL_SESSION_set1_id(session.get(), id, sizeof id);
  SSL_SESSION_set_protocol_version(session.get(), version);
  return session;
}

TEST(SessionCache, GivesTls13SessionsOnceAndTheNewestFirst) {
  SessionCache cache(10);
  SslSession first = make_session(TLS1_3_VERSION);
  SslSession second = make_session(TLS1_3_VERSION);
  const SSL_SESSION* const expected[] = {second.get(), first.get()};
  cache.put("a", std::move(first));
  cache.put("a", std::move(second));
  EXPECT_EQ(cache.take("b"), nullptr);
  EXPECT_EQ(cache.take("a").get(), expected[0]);
  EXPECT_EQ(cache.take("a").get(), expected[1]);
  EXPECT_EQ(cache.take("a"), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(SessionCache, GivesTls12SessionsAgainAndAgain) {
  SessionCache cache(10);
  cache.put("a", make_session(TLS1_2_VERSION));
  EXPECT_NE(cache.take("a"), nullptr);
  EXPECT_NE(cache.take("a"), nullptr);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(SessionCache, KeepsASessionOnceOnly) {
  SessionCache cache(10);
  SslSession session = make_session(TLS1_2_VERSION);
  SSL_SESSION_up_ref(session.get());
  cache.put("a", SslSession(session.get()));
  cache.put("a", std::move(session));
  EXPECT_EQ(cache.size(), 1U);
}

TEST(SessionCache, DropsWhatCannotBeResumed) {
  SessionCache cache(10);
  cache.put("a", SslSession(SSL_SESSION_new()));
  EXPECT_EQ(cache.take("a"), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(SessionCache, DropsTheNameThatWasUsedLeastRecently) {
  SessionCache cache(2);
  cache.put("a", make_session(TLS1_2_VERSION));
  cache.put("b", make_session(TLS1_2_VERSION));
  EXPECT_NE(cache.take("a"), nullptr);
  cache.put("c", make_session(TLS1_2_VERSION));
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.take("b"), nullptr);
  EXPECT_NE(cache.take("a"), nullptr);
  EXPECT_NE(cache.take("c"), nullptr);
}

TEST(SessionCache, BoundsTheSessionsOfOneName) {
  SessionCache cache(100);
  for (int i = 0; i < 50; ++i) cache.put("a", make_session(TLS1_3_VERSION));
  EXPECT_EQ(cache.size(), SessionCache::kPerName);
}

TEST(SessionCache, KeepsNothingWithLimitZero) {
  SessionCache cache(0);
  cache.put("a", make_session(TLS1_3_VERSION));
  EXPECT_EQ(cache.take("a"), nullptr);
}

TEST(SessionCache, IsSharedByThreads) {
  SessionCache cache(16);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 500; ++i) {
        cache.put("name" + std::to_string((i + t) % 7), make_session(TLS1_3_VERSION));
        (void)cache.take("name" + std::to_string(i % 5));
      }
    });
  }
  threads.clear();
  EXPECT_LE(cache.size(), 16U);
}

}  // namespace
}  // namespace titanium::tls
