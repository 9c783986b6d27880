// SPDX-License-Identifier: MIT
#include "tls/certificates/digest.h"

#include <gtest/gtest.h>

#include <utility>

namespace titanium::tls {
namespace {

TEST(Digest, MakesTheAcceptKeyOfTheWebSocketRfc) {
  // RFC 6455 §1.3.
  const auto digest =
      sha1(as_bytes("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
  EXPECT_EQ(base64_encode(digest), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(Digest, HashesNothing) { EXPECT_EQ(base64_encode(sha1({})), "2jmj7l5rSw0yVb/vlWAYkK/YBwk="); }

TEST(Digest, EncodesTheExamplesOfTheBase64Rfc) {
  // RFC 4648 §10.
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [plain, encoded] : cases) EXPECT_EQ(base64_encode(as_bytes(plain)), encoded);
}

}  // namespace
}  // namespace titanium::tls
