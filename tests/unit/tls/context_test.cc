// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tls/client_context.h"
#include "tls/server_context.h"
#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::HasSubstr;

class ServerContextTest : public TlsTest {
 protected:
  // "ok", or why the client did not accept the certificate.
  std::string served_for(std::string_view asked) {
    start(asked);
    turn();
    return client.is_open() ? "ok" : client.failure();
  }
};

TEST_F(ServerContextTest, ChoosesTheCertificateByServerName) {
  server_options.key_pairs = {
      authority.issue({"default.example"}),
      authority.issue({"*.example.org", "example.org"}),
      authority.issue({"special.example.org"}),
      authority.issue({"UPPER.example"}),
  };
  make_contexts();
  const ServerContext::Impl& impl = server_context->impl();
  struct Case {
    std::string_view asked;
    std::size_t index;
  };
  const Case cases[] = {
      {"default.example", 0},
      {"example.org", 1},
      {"www.example.org", 1},
      {"special.example.org", 2},
      {"special.example.org.", 2},
      {"a.b.example.org", 0},
      {"org", 0},
      {"", 0},
      {".", 0},
      {".example.org", 0},
      {"upper.example", 3},
      {"unknown.example", 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.asked));
    EXPECT_EQ(impl.find(c.asked), impl.contexts[c.index].get());
  }
  // And on the wire, where the client checks the name.
  EXPECT_EQ(served_for("default.example"), "ok");
  EXPECT_EQ(served_for("WWW.example.org"), "ok");
  EXPECT_EQ(served_for("special.example.org"), "ok");
  EXPECT_EQ(served_for("unknown.example"), "hostname mismatch");
}

TEST_F(ServerContextTest, FallsBackInGroupsWhenAClientIsOld) {
  const std::pair<const char*, std::string_view> cases[] = {
      {"X25519MLKEM768:X25519", "X25519MLKEM768"},
      {"X25519:X25519MLKEM768", "X25519MLKEM768"},
      {"X25519", "x25519"},
      {"P-256", "secp256r1"},
      {"P-384:P-256", "secp384r1"},  // Its key share is there, P-256 would cost a round trip.
      {"P-384", "secp384r1"},
  };
  for (const auto& [groups, expected] : cases) {
    SCOPED_TRACE(groups);
    client_context.reset();
    make_contexts();
    ASSERT_EQ(SSL_CTX_set1_groups_list(client_context->impl().context.get(), groups), 1);
    connect();
    EXPECT_EQ(client.transport->group(), expected);
  }
}

TEST_F(ServerContextTest, RefusesOldVersionsAndWeakCiphers) {
  make_contexts();
  SSL_CTX* context = client_context->impl().context.get();
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
  start();
  turn();
  EXPECT_FALSE(client.is_open());
  EXPECT_EQ(server.failure(), "unsupported protocol");

  SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-SHA:AES128-SHA");
  start();
  turn();
  EXPECT_EQ(server.failure(), "no shared cipher");
}

TEST_F(ServerContextTest, SaysWhatIsWrongWithItsOptions) {
  const KeyPairPem good = authority.issue({"a.example"});
  const KeyPairPem other = authority.issue({"a.example"});
  struct Case {
    std::string_view name;
    ServerOptions options;
    std::string_view what;
  };
  const Case cases[] = {
      {"no certificate", {}, "needs a certificate"},
      {"key of another certificate",
       {.key_pairs = {{good.certificate_chain, other.private_key}}},
       "key does not match the certificate"},
      {"empty certificate", {.key_pairs = {{"", good.private_key}}}, "no certificate in PEM form"},
      {"empty key", {.key_pairs = {{good.certificate_chain, ""}}}, "no private key in PEM form"},
      {"empty protocol name", {.key_pairs = {good}, .alpn = {""}}, "1 to 255 bytes"},
      {"versions the wrong way round",
       {.key_pairs = {good}, .minimum = TlsVersion::tls13, .maximum = TlsVersion::tls12},
       "above the highest"},
      {"key log in no folder",
       {.key_pairs = {good}, .key_log_path = "/nonexistent/keys"},
       "/nonexistent/keys: cannot write the key log: No such file or directory"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto made = ServerContext::create(c.options);
    ASSERT_FALSE(made.has_value());
    EXPECT_THAT(made.error().what, HasSubstr(std::string(c.what)));
  }
}

TEST(ClientContextTest, SaysWhatIsWrongWithItsOptions) {
  const TestAuthority authority;
  const std::string garbage = ::testing::TempDir() + "titanium_garbage.pem";
  std::ofstream(garbage) << "no certificate";
  struct Case {
    std::string_view name;
    ClientOptions options;
    std::string what;
  };
  const Case cases[] = {
      {"missing CA file",
       {.ca_path = "/nonexistent/ca.pem"},
       "/nonexistent/ca.pem: cannot read: No such file or directory"},
      {"CA file without certificate",
       {.ca_path = garbage},
       garbage + ": no certificate in PEM form found"},
      {"CA text without certificate",
       {.ca_pem = "x"},
       "CA certificates: no certificate in PEM form found"},
      {"client key without certificate",
       {.client_key_pair = {"", authority.issue({"c"}).private_key}},
       "client certificate: no certificate in PEM form found"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto made = ClientContext::create(c.options);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().what, c.what);
  }
}

}  // namespace
}  // namespace titanium::tls
