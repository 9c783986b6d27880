// SPDX-License-Identifier: MIT
#include "arms/arm.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "arms/pairs.h"
#include "arms/wire.h"

namespace titanium::probe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

[[nodiscard]] std::vector<std::string> names_of(Product product) {
  std::vector<std::string> names;
  for (const Arm& arm : all_arms()) {
    if (arm.product == product) names.push_back(arm.name);
  }
  return names;
}

[[nodiscard]] const Arm* find_arm(const std::vector<Arm>& arms, const std::string& name) {
  for (const Arm& arm : arms) {
    if (arm.name == name) return &arm;
  }
  return nullptr;
}

// The names are a promise: result files of years are compared by them.
TEST(Arms, OfTitaniumHaveTheNamesOfTheOriginal) {
  EXPECT_THAT(
      names_of(Product::titanium),
      ElementsAre("twp-reverse-http1", "twp-reverse-http1-to-https",
                  "twp-reverse-http1-plain-to-h2c", "twp-reverse-http1-plain-to-http2",
                  "twp-reverse-http1-plain-to-http3", "twp-reverse-http1-tls",
                  "twp-reverse-http1-mitm", "twp-reverse-http1-to-h2c",
                  "twp-reverse-http11-to-http2", "twp-reverse-http1-to-http3",
                  "twp-reverse-h2c-to-h1", "twp-reverse-h2c-to-https", "twp-reverse-h2c-to-h2c",
                  "twp-reverse-h2c", "twp-reverse-h2c-to-h3", "twp-reverse-http2-cleartext",
                  "twp-reverse-http2-to-https-http1", "twp-reverse-http2-to-h2c",
                  "twp-reverse-http2", "twp-reverse-http2-to-http3", "twp-reverse-http3-cleartext",
                  "twp-reverse-http3-to-https-http1", "twp-reverse-http3-to-h2c",
                  "twp-reverse-http3-to-http2", "twp-reverse-http3",
                  // Heavier loads.
                  "twp-reverse-http1-body64k", "twp-reverse-http1-tls-body64k",
                  "twp-reverse-http2-cleartext-body64k", "twp-reverse-http3-cleartext-body64k",
                  "twp-reverse-h2c-to-h1-body64k", "twp-reverse-http2-to-h2c-body64k",
                  "twp-reverse-http2-body64k", "twp-reverse-http3-to-http2-body64k",
                  "twp-reverse-http3-to-https-http1-body64k", "twp-reverse-http1-body256k",
                  "twp-reverse-http1-tls-body256k", "twp-reverse-http2-cleartext-body256k",
                  "twp-reverse-http3-cleartext-body256k", "twp-reverse-h2c-to-h1-body256k",
                  "twp-reverse-http2-to-h2c-body256k", "twp-reverse-http2-body256k",
                  "twp-reverse-http3-to-http2-body256k",
                  "twp-reverse-http3-to-https-http1-body256k", "twp-reverse-http1-post64k",
                  "twp-reverse-http1-tls-post64k", "twp-reverse-http2-cleartext-post64k",
                  "twp-reverse-http3-cleartext-post64k", "twp-reverse-h2c-to-h1-post64k",
                  "twp-reverse-http2-to-h2c-post64k", "twp-reverse-http2-post64k",
                  "twp-reverse-http3-to-http2-post64k", "twp-reverse-http3-to-https-http1-post64k",
                  "twp-reverse-http1-tls-lossy", "twp-reverse-http2-cleartext-lossy",
                  "twp-reverse-http3-cleartext-lossy", "twp-reverse-h2c-to-h1-lossy",
                  "twp-reverse-http2-to-h2c-lossy", "twp-reverse-http2-lossy",
                  "twp-reverse-http3-to-http2-lossy", "twp-reverse-http3-to-https-http1-lossy",
                  "twp-reverse-http1-tls-slow256k", "twp-reverse-http2-cleartext-slow256k",
                  "twp-reverse-http3-cleartext-slow256k", "twp-reverse-h2c-to-h1-slow256k",
                  "twp-reverse-http2-slow256k", "twp-reverse-http1-tls-early64k",
                  "twp-reverse-http2-cleartext-early64k", "twp-reverse-http3-cleartext-early64k",
                  "twp-reverse-http2-early64k", "twp-reverse-http2-duplex-h2",
                  "twp-reverse-http1-tls-duplex-ws", "twp-reverse-http1-mitm-duplex-ws-h1tls",
                  "twp-reverse-http2-cleartext-duplex-ws-h2", "twp-reverse-http2-grpc",
                  "twp-reverse-http2-to-h2c-grpc-h2c", "twp-reverse-http1-tls-ka-tiny",
                  "twp-reverse-http1-tls-nc-tiny", "twp-reverse-http1-tls-ka-256k"));
}

TEST(Arms, OfPeersHaveTheirOwnNamesWhereTheOriginalHas) {
  std::vector<std::string> names;
  for (const PairRow& pair : pairs()) names.emplace_back(pair.peer_name);
  EXPECT_THAT(
      names,
      ElementsAre("reverse-http1", "reverse-http1-to-https", "reverse-http1-plain-to-h2c",
                  "reverse-http1-plain-to-http2", "reverse-http1-plain-to-http3",
                  "reverse-http1-tls", "reverse-http1-tls-to-https", "reverse-http1-to-h2c",
                  "reverse-http11-to-http2", "reverse-http1-to-http3", "reverse-h2c-to-h1",
                  "reverse-h2c-to-https", "reverse-h2c-to-h2c", "reverse-h2c", "reverse-h2c-to-h3",
                  "reverse-http2", "reverse-http2-to-https-http1", "reverse-http2-to-h2c",
                  "reverse-http2-to-https", "reverse-http2-to-http3", "reverse-http3-cleartext",
                  "reverse-http3-to-https-http1", "reverse-http3-to-h2c", "reverse-http3-to-http2",
                  "reverse-http3-to-http3"));
}

TEST(Arms, OfEachPeerCoverTheSameRowsAsTitanium) {
  const std::vector<Arm> arms = all_arms();
  std::set<std::string> expected;
  for (const Arm& arm : arms) {
    if (arm.product == Product::titanium) expected.insert(arm.row_key);
  }
  for (const ProductRow& product : products()) {
    if (product.control) continue;
    std::set<std::string> keys;
    for (const Arm& arm : arms) {
      if (arm.product != product.id) continue;
      keys.insert(arm.row_key);
      EXPECT_THAT(arm.name, StartsWith(std::string(product.prefix)));
      // What the original calls nginx with gRPC follows no rule.
      if (arm.name == "nginx-reverse-grpc") continue;
      EXPECT_TRUE(arm.name.ends_with(arm.load.suffix)) << arm.name;
    }
    EXPECT_EQ(keys, expected) << product.name;
  }
}

TEST(Arms, OfControlsAreInTheClearAndTheTlsRowsOnly) {
  EXPECT_THAT(
      names_of(Product::bare_relay),
      ElementsAre("bare-relay", "bare-relay-body64k", "bare-relay-body256k", "bare-relay-post64k"));
  EXPECT_THAT(
      names_of(Product::origin_direct),
      ElementsAre(
          "origin-direct", "origin-direct-tls", "origin-direct-h2c", "origin-direct-h2tls",
          "origin-direct-body64k", "origin-direct-tls-body64k", "origin-direct-h2tls-body64k",
          "origin-direct-h2c-body64k", "origin-direct-body256k", "origin-direct-tls-body256k",
          "origin-direct-h2tls-body256k", "origin-direct-h2c-body256k", "origin-direct-post64k",
          "origin-direct-tls-post64k", "origin-direct-h2tls-post64k", "origin-direct-h2c-post64k",
          "origin-direct-tls-ka-tiny", "origin-direct-tls-nc-tiny", "origin-direct-tls-ka-256k"));
  EXPECT_THAT(
      names_of(Product::bare_reverse),
      ElementsAre("bare-reverse-http1", "bare-reverse-http1-tls", "bare-reverse-http1-body64k",
                  "bare-reverse-http1-tls-body64k", "bare-reverse-http1-body256k",
                  "bare-reverse-http1-tls-body256k", "bare-reverse-http1-post64k",
                  "bare-reverse-http1-tls-post64k", "bare-reverse-http1-tls-ka-tiny",
                  "bare-reverse-http1-tls-nc-tiny", "bare-reverse-http1-tls-ka-256k"));
}

TEST(Arms, HaveNamesThatNobodyElseHas) {
  std::set<std::string> names;
  for (const Arm& arm : all_arms()) EXPECT_TRUE(names.insert(arm.name).second) << arm.name;
}

TEST(Arms, MadeOfWiresThatAreBuiltArePossible) {
  for (const Arm& arm : all_arms()) {
    const bool built = arm.client != Wire::http3 && arm.origin != Wire::http3;
    if (arm.product == Product::titanium && built) {
      EXPECT_THAT(arm.not_possible, IsEmpty()) << arm.name;
    }
    if (!generator_speaks(arm.client) || !origin_speaks(arm.origin)) {
      EXPECT_THAT(arm.not_possible, StartsWith("not possible")) << arm.name;
    }
  }
}

TEST(Arms, SayWhatAProductWillNeverDo) {
  const std::vector<Arm> arms = all_arms();
  const std::pair<std::string, std::string> cases[] = {
      {"nginx-reverse-http1-to-h2c", "not possible: nginx speaks HTTP/1 to origins"},
      {"haproxy-reverse-http3-to-http3", "not possible: HAProxy has no QUIC to servers"},
      {"varnish-reverse-http1-tls", "not possible: Varnish has no TLS"},
      {"nginx-reverse-http2-duplex-ws-h2",
       "not possible: nginx has no extended CONNECT (RFC 8441)"},
      {"nginx-reverse-http2-to-https", "not possible: nginx speaks HTTP/1 to origins"},
      {"nginx-reverse-http2-to-h2c-grpc-h2c", ""},
      {"nginx-reverse-grpc", ""},
      {"nginx-reverse-http1", ""},
  };
  for (const auto& [name, reason] : cases) {
    const Arm* arm = find_arm(arms, name);
    ASSERT_NE(arm, nullptr) << name;
    EXPECT_EQ(arm->not_possible, reason) << name;
  }
}

TEST(Arms, CarryTheLoadOfTheirSuffix) {
  const std::vector<Arm> arms = all_arms();
  const Arm* slow = find_arm(arms, "twp-reverse-http1-tls-slow256k");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->row_key, "h1tls-h1c-slow256k");
  EXPECT_EQ(slow->load.workload.response_bytes, 256U * 1024);
  EXPECT_EQ(slow->load.workload.read_chunk_bytes, 16U * 1024);
  EXPECT_EQ(slow->load.workload.read_pause_ms, 8U);

  const Arm* lossy = find_arm(arms, "nginx-reverse-http1-tls-lossy");
  ASSERT_NE(lossy, nullptr);
  EXPECT_TRUE(lossy->load.has_shim());
  EXPECT_EQ(lossy->load.delay_ms, 5U);
  EXPECT_EQ(lossy->load.loss_percent, 1);

  const Arm* fresh = find_arm(arms, "twp-reverse-http1-tls-nc-tiny");
  ASSERT_NE(fresh, nullptr);
  EXPECT_FALSE(fresh->load.workload.keep_alive);
}

}  // namespace
}  // namespace titanium::probe
