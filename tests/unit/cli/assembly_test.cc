// SPDX-License-Identifier: MIT
#include "cli/assembly.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/loader.h"
#include "tls/certificates/certificate_authority.h"
#include "unit/cli/support.h"

namespace titanium::cli {
namespace {

using namespace std::chrono_literals;

class AssemblyTest : public testing::Test {
 protected:
  AssemblyTest() {
    input_.file_name = "twp.yaml";
    input_.certificate_folder = folder_.file("ca");
  }

  [[nodiscard]] config::Config load(std::string_view yaml) {
    config::LoadOutcome outcome = config::load_text(yaml, folder_.file("twp.yaml"));
    for (const auto& diagnostic : outcome.diagnostics) {
      ADD_FAILURE() << config::format_diagnostic(diagnostic);
    }
    return outcome.config.value_or(config::Config{});
  }
  [[nodiscard]] Assembly assembled(std::string_view yaml) {
    auto assembly = assemble(load(yaml), input_);
    if (assembly) return std::move(*assembly);
    for (const auto& problem : assembly.error())
      ADD_FAILURE() << config::format_diagnostic(problem);
    return {};
  }

  // c.pem and k.pem, next to the configuration.
  void write_certificate() {
    const auto authority = tls::CertificateAuthority::open_or_create(folder_.file("own"));
    ASSERT_TRUE(authority.has_value());
    const std::vector<std::string> names{"own.example"};
    const auto pair = authority->issue(names);
    ASSERT_TRUE(pair.has_value());
    write_file(folder_.file("c.pem"), pair->certificate_chain);
    write_file(folder_.file("k.pem"), pair->private_key);
  }

  TemporaryFolder folder_;
  AssemblyInput input_;
};

constexpr std::string_view kTwoClusters = R"(
listeners:
  - { host: 127.0.0.1, port: 8001 }
  - { host: "::1", port: 8002, maxCachedConnections: 3, maxConcurrentClients: 9 }
clusters:
  - id: a
    algorithm: LeastRequests
    destinations:
      - { id: a1, address: 10.0.0.1, port: 81 }
      - { id: a2, address: origin.example, port: 443, useHttps: true, useDestinationHost: true }
  - id: b
    destinations: [ { address: "::1", port: 8080, useDestinationHost: true } ]
routes:
  - { id: one, clusterId: a, match: { path: /one }, limits: { requestTimeoutSeconds: 5 } }
  - { id: two, clusterId: b, match: { path: /two } }
)";

TEST_F(AssemblyTest, TurnsClustersIntoEndpoints) {
  const Assembly assembly = assembled(kTwoClusters);
  const auto& endpoints = assembly.options.endpoints;
  ASSERT_EQ(endpoints.size(), 6u);  // Twice: the second listener has pools of its own.
  for (std::size_t i = 0; i < endpoints.size(); ++i) EXPECT_EQ(endpoints[i].index, i);
  EXPECT_EQ(endpoints[0].id, "a1");
  EXPECT_EQ(endpoints[0].host, "10.0.0.1");
  EXPECT_EQ(endpoints[0].port, 81);
  EXPECT_EQ(endpoints[0].tls, nullptr);
  EXPECT_EQ(endpoints[0].authority_override, "");
  EXPECT_FALSE(endpoints[0].idle_connections.has_value());
  EXPECT_NE(endpoints[1].tls, nullptr);
  EXPECT_EQ(endpoints[1].authority_override, "origin.example");
  EXPECT_EQ(endpoints[2].authority_override, "[::1]:8080");
  EXPECT_EQ(endpoints[3].host, "10.0.0.1");
  EXPECT_EQ(endpoints[3].idle_connections, 3u);
}

TEST_F(AssemblyTest, TurnsListenersIntoAddressesAndUrls) {
  const Assembly assembly = assembled(kTwoClusters);
  ASSERT_EQ(assembly.options.listeners.size(), 2u);
  EXPECT_EQ(assembly.options.listeners[0].address.to_string(), "127.0.0.1:8001");
  EXPECT_EQ(assembly.options.listeners[1].address.to_string(), "[::1]:8002");
  EXPECT_EQ(assembly.options.listeners[1].concurrent_clients, 9u);
  EXPECT_EQ(assembly.urls, (std::vector<std::string>{"http://127.0.0.1:", "http://[::1]:"}));
}

TEST_F(AssemblyTest, MakesRoutersThatKnowTheServersEndpoints) {
  const Assembly assembly = assembled(kTwoClusters);
  const std::vector<proxy::OriginEndpoint> copy = assembly.options.endpoints;
  const auto router = assembly.options.make_router(1, copy);
  http::RequestHead head;
  head.method_text = "GET";
  head.authority = "x";
  head.path = "/two";
  const auto two = router->route(head);
  ASSERT_NE(two.group, nullptr);
  EXPECT_EQ(two.group->pick({}, {}), &copy[5]);
  head.path = "/one";
  const auto one = router->route(head);
  ASSERT_NE(one.settings, nullptr);
  EXPECT_EQ(one.settings->request_timeout, 5s);
  head.path = "/three";
  EXPECT_EQ(router->route(head).group, nullptr);
}

TEST_F(AssemblyTest, SendsTheRestToForwardHost) {
  const Assembly assembly = assembled(
      "listeners: [ { host: 127.0.0.1, port: 0, forwardHost: origin.example, forwardPort: 81 } ]");
  ASSERT_EQ(assembly.options.endpoints.size(), 1u);
  EXPECT_EQ(assembly.options.endpoints[0].host, "origin.example");
  const auto router = assembly.options.make_router(0, assembly.options.endpoints);
  http::RequestHead head;
  head.path = "/";
  ASSERT_NE(router->route(head).group, nullptr);
}

TEST_F(AssemblyTest, HandsOnTimeoutsLimitsAndPools) {
  const Assembly assembly = assembled(R"(
listeners: [ { host: 127.0.0.1, port: 0, forwardHost: a } ]
server:
  viaHeaderPseudonym: me
  timeouts:
    connectionTimeOutSeconds: 11
    connectTimeOutSeconds: 12
    clientHeaderTimeoutSeconds: 13
    responseHeaderTimeoutSeconds: 14
    idleReadTimeoutSeconds: 15
    idleWriteTimeoutSeconds: 16
    requestTimeoutSeconds: 17
    drainTimeoutSeconds: 18
    networkFailureRetryAttempts: 2
  pooling:
    maxCachedConnections: 21
    enableConnectionPool: false
    enableIpv6UnreachableSoftSkip: false
    noDelay: false
  limits: { maxHeaderLineBytes: 1024, maxHeaderCount: 32, maxHeaderAggregateBytes: 2048 }
)");
  const proxy::ServerOptions& options = assembly.options;
  EXPECT_EQ(options.forwarding.via_pseudonym, "me");
  EXPECT_EQ(options.timeouts.idle, 11s);
  EXPECT_EQ(options.timeouts.connect, 12s);
  EXPECT_EQ(options.timeouts.client_header, 13s);
  EXPECT_EQ(options.timeouts.response_header, 14s);
  EXPECT_EQ(options.timeouts.idle_read, 15s);
  EXPECT_EQ(options.timeouts.idle_write, 16s);
  EXPECT_EQ(options.timeouts.request, 17s);
  EXPECT_EQ(options.timeouts.drain, 18s);
  EXPECT_EQ(options.pooling.retry_attempts, 2u);
  EXPECT_EQ(options.pooling.idle_connections, 21u);
  EXPECT_FALSE(options.pooling.enabled);
  EXPECT_FALSE(options.pooling.no_delay);
  EXPECT_FALSE(options.pooling.ipv6_soft_skip);
  EXPECT_EQ(options.limits.head.line_bytes, 1024u);
  EXPECT_EQ(options.limits.head.fields, 32u);
  EXPECT_EQ(options.limits.head.head_bytes, 2048u);
}

constexpr std::string_view kTlsListener =
    "listeners: [ { host: 127.0.0.1, port: 0, decryptSsl: true, forwardHost: a } ]";

TEST_F(AssemblyTest, MintsACertificateWhereNoneIsConfigured) {
  const Assembly assembly = assembled(kTlsListener);
  ASSERT_EQ(assembly.options.listeners.size(), 1u);
  EXPECT_NE(assembly.options.listeners[0].tls, nullptr);
  EXPECT_EQ(assembly.root_certificate_path, folder_.file("ca/root.pem"));
  EXPECT_TRUE(read_file(assembly.root_certificate_path).starts_with("-----BEGIN CERTIFICATE"));
  EXPECT_EQ(assembly.urls.at(0), "https://127.0.0.1:");
}

TEST_F(AssemblyTest, CreatesNothingWhenItOnlyChecks) {
  input_.may_create_files = false;
  const Assembly assembly = assembled(kTlsListener);
  EXPECT_EQ(read_file(folder_.file("ca/root.pem")), "");
  EXPECT_EQ(assembly.root_certificate_path, "");
}

// Both contexts that can log keys: of the listener and of the cluster.
constexpr std::string_view kTlsOnBothLegs = R"(
listeners: [ { host: 127.0.0.1, port: 0, decryptSsl: true } ]
certificates: { certificatePath: c.pem, privateKeyPath: k.pem }
clusters: [ { id: a, destinations: [ { address: a.example, port: 443, useHttps: true } ] } ]
routes: [ { id: one, clusterId: a, match: { path: / } } ]
)";

TEST_F(AssemblyTest, WritesTheKeyLogOnlyWhenItMayCreateFiles) {
  write_certificate();
  const config::Config silent = load(kTlsOnBothLegs);
  config::Config configured = silent;
  configured.server.tls.key_log_path = folder_.file("configured.log");
  input_.key_log_path = folder_.file("usual.log");
  for (const bool may_create : {false, true}) {
    SCOPED_TRACE(may_create);
    input_.may_create_files = may_create;
    EXPECT_TRUE(assemble(silent, input_).has_value());
    EXPECT_TRUE(assemble(configured, input_).has_value());
    EXPECT_EQ(std::filesystem::exists(folder_.file("usual.log")), may_create);
    EXPECT_EQ(std::filesystem::exists(folder_.file("configured.log")), may_create);
  }
}

TEST_F(AssemblyTest, UsesTheConfiguredCertificate) {
  write_certificate();
  const Assembly assembly =
      assembled(std::string(kTlsListener) +
                "\ncertificates: { certificatePath: c.pem, privateKeyPath: k.pem }\n");
  ASSERT_EQ(assembly.options.listeners.size(), 1u);
  EXPECT_NE(assembly.options.listeners[0].tls, nullptr);
  EXPECT_EQ(assembly.root_certificate_path, "");
}

TEST_F(AssemblyTest, ReportsAllFilesThatCannotBeUsed) {
  config::Config config = load(kTwoClusters);
  write_file(folder_.file("bad.pem"), "nonsense");
  config.listeners[0].decrypt_ssl = true;
  config.certificates = {
      {.certificate_path = folder_.file("bad.pem"), .private_key_path = folder_.file("bad.pem")}};
  config.clusters[0].tls.ca_path = folder_.file("bad.pem");
  config.clusters[0].line = 5;
  const auto assembly = assemble(config, input_);
  ASSERT_FALSE(assembly.has_value());
  ASSERT_EQ(assembly.error().size(), 2u);
  EXPECT_EQ(assembly.error()[0].path, "certificates");
  EXPECT_EQ(assembly.error()[1].path, "clusters[0]");
  EXPECT_EQ(assembly.error()[1].position.line, 5);
  EXPECT_EQ(assembly.error()[1].file, "twp.yaml");
}

}  // namespace
}  // namespace titanium::cli
