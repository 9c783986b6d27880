// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tls/server_context.h"
#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::HasSubstr;

class Verification : public TlsTest {
 protected:
  void serve(KeyPairPem key_pair) {
    server_context.reset();
    server_options.key_pairs = {std::move(key_pair)};
  }
  void connect_to(std::string_view name) {
    start(name);
    turn();
  }
};

TEST_F(Verification, RefusesWhatTheCertificateDoesNotProve) {
  struct Case {
    std::string_view name;
    std::vector<std::string> certified;
    Validity validity;
    std::string_view asked;
    std::string_view what;
  };
  const Case cases[] = {
      {"another name", {"a.example"}, TestAuthority::days(-1, 5), "b.example", "hostname mismatch"},
      {"another address",
       {"127.0.0.1"},
       TestAuthority::days(-1, 5),
       "127.0.0.2",
       "IP address mismatch"},
      {"a name that looks like the address",
       {"a.example"},
       TestAuthority::days(-1, 5),
       "127.0.0.1",
       "IP address mismatch"},
      {"a wildcard two levels up",
       {"*.example.org"},
       TestAuthority::days(-1, 5),
       "a.b.example.org",
       "hostname mismatch"},
      {"a wildcard for the bare domain",
       {"*.example.org"},
       TestAuthority::days(-1, 5),
       "example.org",
       "hostname mismatch"},
      {"a partial wildcard",
       {"a.example"},
       TestAuthority::days(-1, 5),
       "example",
       "hostname mismatch"},
      {"expired",
       {"a.example"},
       TestAuthority::days(-5, -1),
       "a.example",
       "certificate has expired"},
      {"not yet valid",
       {"a.example"},
       TestAuthority::days(2, 5),
       "a.example",
       "certificate is not yet valid"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    serve(authority.issue(c.certified, c.validity));
    connect_to(c.asked);
    ASSERT_TRUE(client.handshake.has_value());
    ASSERT_FALSE(client.is_open());
    EXPECT_EQ(client.handshake->error().what, c.what);
    EXPECT_EQ(client.handshake->error().code, Code::certificate);
    EXPECT_EQ(client.handshake->error().side, Side::origin);
    EXPECT_EQ(client.handshake->error().retry, Retry::never);
    EXPECT_THAT(client.transport->detail(), HasSubstr("CN=" + c.certified.front()));
    EXPECT_THAT(client.transport->detail(), HasSubstr("at depth 0"));
    EXPECT_FALSE(server.is_open()) << "the alert reached the server";
    EXPECT_EQ(client_context->counters().failures, 1U);
    client_context.reset();
  }
}

TEST_F(Verification, AcceptsNamesInEveryForm) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"example.org", "EXAMPLE.org"},
      {"example.org", "example.org."},
      {"*.example.org", "a.example.org"},
      {"127.0.0.1", "127.0.0.1"},
      {"::1", "::1"},
      {"::1", "[::1]"},
  };
  for (const auto& [certified, asked] : cases) {
    SCOPED_TRACE(certified);
    serve(authority.issue({certified}));
    connect_to(asked);
    EXPECT_TRUE(client.is_open()) << client.failure() << client.transport->detail();
  }
}

TEST_F(Verification, SendsNoAddressAsServerName) {
  serve(authority.issue({"127.0.0.1"}));
  connect("127.0.0.1");
  EXPECT_EQ(server.transport->server_name(), "");
}

TEST_F(Verification, RefusesAnUnknownAuthority) {
  serve(TestAuthority("Somebody else").issue({"example.org"}));
  connect_to("example.org");
  EXPECT_EQ(client.failure(), "unable to get local issuer certificate");
}

TEST_F(Verification, RefusesAnEmptyName) {
  connect_to("");
  ASSERT_FALSE(client.is_open());
  EXPECT_EQ(client.handshake->error().code, Code::config);
}

TEST_F(Verification, CanBeSwitchedOff) {
  client_options.verify = false;
  const std::pair<KeyPairPem, std::string_view> cases[] = {
      {TestAuthority("Somebody else").issue({"example.org"}), "example.org"},
      {authority.issue({"example.org"}, TestAuthority::days(-5, -1)), "example.org"},
      {authority.issue({"a.example"}), "b.example"},
      {authority.issue({"a.example"}), ""},
  };
  for (const auto& [key_pair, name] : cases) {
    serve(key_pair);
    connect_to(name);
    EXPECT_TRUE(client.is_open()) << client.failure();
  }
}

TEST_F(Verification, TrustsACertificateThatIsNamedItself) {
  const KeyPairPem alone = TestAuthority("Somebody else").issue({"example.org"});
  serve(alone);
  client_options.ca_pem = alone.certificate_chain;
  connect_to("example.org");
  EXPECT_TRUE(client.is_open()) << client.failure();
}

TEST_F(Verification, UsesTheSystemStoreWithoutOwnCas) {
  client_options.ca_pem.clear();
  connect_to("example.org");
  ASSERT_FALSE(client.is_open());
  EXPECT_EQ(client.failure(), "unable to get local issuer certificate");
}

TEST_F(Verification, TakesCasFromFileAndTextTogether) {
  const std::string path = ::testing::TempDir() + "titanium_cas.pem";
  const TestAuthority other("Other CA");
  std::ofstream(path) << other.pem();
  client_options.ca_path = path;
  for (const TestAuthority* each : {&std::as_const(authority), &other}) {
    serve(each->issue({"example.org"}));
    connect_to("example.org");
    EXPECT_TRUE(client.is_open()) << client.failure();
  }
}

TEST_F(Verification, PresentsAClientCertificateIfAsked) {
  client_options.client_key_pair = authority.issue({"client.example"});
  make_contexts();
  SSL_CTX* context = server_context->impl().contexts.front().get();
  static std::string presented;
  presented.clear();
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX* store) {
    presented = dns_names(X509_STORE_CTX_get0_cert(store)).front();
    return 1;
  });
  connect();
  EXPECT_EQ(presented, "client.example");
}

TEST_F(Verification, ReportsALateRefusalOfTheClientByWord) {
  make_contexts();
  SSL_CTX_set_verify(server_context->impl().contexts.front().get(),
                     SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  start();
  turn();
  EXPECT_FALSE(server.is_open());
  ASSERT_TRUE(client.is_open()) << "TLS 1.3 clients are done before the server looks";
  ASSERT_EQ(client.last->status, Status::failed);
  EXPECT_THAT(std::string(client.last->error.what), HasSubstr("certificate required"));
}

}  // namespace
}  // namespace titanium::tls
