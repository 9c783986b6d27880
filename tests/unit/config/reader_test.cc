// SPDX-License-Identifier: MIT
#include "config/reader.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <set>

#include "config/schema.h"
#include "config/text_values.h"
#include "unit/config/support.h"

namespace titanium::config {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kFull = R"(schemaVersion: "7.1"
listeners:
  - host: "[::1]"
    port: 8443
    type: Transparent
    decryptSsl: true
    forwardHost: Origin.example
    forwardPort: 8081
    forwardHttps: true
    maxConcurrentClients: 100
    maxCachedConnections: 7
  - forwardHost: other.example
    forwardHttps: yes
routes:
  - id: r1
    clusterId: two
    order: -3
    match:
      host: A.example
      hosts: ["*.B.example", "10.0.0.1"]
      path: /users/{id}
      pathKind: template
      method: GET
      methods: [HEAD, POST]
      headers: {X-Env: test, x-other: ""}
      query: {v: "2", flag: ""}
    limits: {requestTimeoutSeconds: 1.5, idleTimeoutSeconds: 0}
clusters:
  - id: one
    destinations:
      - address: 10.0.0.1
  - id: two
    algorithm: leastrequests
    destinations:
      - {id: d1, address: O.example, port: 81, useHttps: true, useDestinationHost: true, weight: 5}
      - {address: "::1", useHttps: true}
    tls:
      caPath: ca.pem
      serverName: Origin.example
      clientCertificatePath: client.pem
      clientPrivateKeyPath: client.key
      ignoreServerCertificateErrors: true
server:
  viaHeaderPseudonym: ""
  ignoreServerCertificateErrors: true
  forwardedHeaders: both
  trustForwardedHeaders: true
  dnsServerEndPoint: 127.0.0.1:5353
  accessLog: {path: access.log, sampleRate: 0.25}
  timeouts:
    connectionTimeOutSeconds: 61
    connectTimeOutSeconds: 0.5
    clientHandshakeTimeoutSeconds: 11
    clientHeaderTimeoutSeconds: 0
    responseHeaderTimeoutSeconds: 3
    idleReadTimeoutSeconds: 4
    idleWriteTimeoutSeconds: 5
    requestTimeoutSeconds: 6.001
    tunnelIdleTimeoutSeconds: 12
    networkFailureRetryAttempts: 2
    drainTimeoutSeconds: 7
  pooling:
    enableConnectionPool: false
    enableIpv6UnreachableSoftSkip: false
    noDelay: false
    enableTcpKeepAlive: false
    maxCachedConnections: 9
    maxConcurrentClientConnections: 1000
    threadPoolWorkerThread: 3
    listenerBackLog: 16
  limits:
    maxHeaderLineBytes: 1000
    maxHeaderCount: 10
    maxHeaderAggregateBytes: 2000
    maxTrailerHeaderCount: 0
    maxTrailerHeaderBlockBytes: 300
    maxInterimResponses: 1
    maxRequestBodyBytes: 0
    minRequestBodyBytesPerSecond: 13
  tls:
    supportedSslProtocols: [tls13]
    keyLogPath: keys.log
certificates:
  certificatePath: ca.pem
  privateKeyPath: client.key
  additional:
    - {certificatePath: more.pfx}
    - {certificatePath: client.pem, privateKeyPath: client.key}
logging:
  enabled: false
  minimumLevel: Trace
  enableConsole: false
  enableConsoleColors: false
  enableFile: true
  filePath: titanium.log
  maxFileSizeBytes: 5000
  maxRolledFiles: 0
  queueCapacity: 10
)";

class ReadConfig : public testing::Test {
 protected:
  ReadConfig() {
    for (const char* name : {"ca.pem", "client.pem", "client.key", "more.pfx"}) {
      folder_.write(name, "x");
    }
  }

  Config load(std::string_view text) {
    const LoadOutcome outcome = load_text(text, folder_.at("twp.yaml"));
    for (const Diagnostic& diagnostic : outcome.diagnostics) {
      ADD_FAILURE() << format_diagnostic(diagnostic);
    }
    return outcome.config.value_or(Config{});
  }

  TempFolder folder_;
};

TEST_F(ReadConfig, ReadsListeners) {
  const Config config = load(kFull);
  ASSERT_EQ(config.listeners.size(), 2U);
  EXPECT_EQ(config.listeners[0], (Listener{.host = "::1",
                                           .port = 8443,
                                           .decrypt_ssl = true,
                                           .forward_host = "origin.example",
                                           .forward_port = 8081,
                                           .forward_https = true,
                                           .max_concurrent_clients = 100,
                                           .max_cached_connections = 7,
                                           .line = 3}));
  EXPECT_EQ(config.listeners[1].host, "0.0.0.0");
  EXPECT_EQ(config.listeners[1].port, 8000);
  EXPECT_EQ(config.listeners[1].forward_port, 443) << "the default with forwardHttps";
  EXPECT_EQ(config.listeners[1].line, 12);
}

TEST_F(ReadConfig, ReadsRoutes) {
  const Config config = load(kFull);
  ASSERT_EQ(config.routes.size(), 1U);
  EXPECT_EQ(
      config.routes[0],
      (Route{.id = "r1",
             .cluster_id = "two",
             .cluster = 1,
             .order = -3,
             .match = {.hosts = {"a.example", "*.b.example", "10.0.0.1"},
                       .path = "/users/{id}",
                       .path_kind = PathKind::template_,
                       .methods = {"GET", "HEAD", "POST"},
                       .headers = {{"X-Env", "test"}, {"x-other", ""}},
                       .query = {{"v", "2"}, {"flag", ""}}},
             .limits = {.request_timeout = milliseconds(1500), .idle_timeout = milliseconds(0)},
             .line = 15}));
}

TEST_F(ReadConfig, ReadsClusters) {
  const Config config = load(kFull);
  ASSERT_EQ(config.clusters.size(), 2U);
  EXPECT_EQ(config.clusters[0].algorithm, Algorithm::round_robin);
  EXPECT_EQ(config.clusters[0].tls, ClusterTls{});
  ASSERT_EQ(config.clusters[0].destinations.size(), 1U);
  EXPECT_EQ(config.clusters[0].destinations[0].id, "10.0.0.1:80");

  const Cluster& two = config.clusters[1];
  EXPECT_EQ(two.algorithm, Algorithm::least_requests);
  ASSERT_EQ(two.destinations.size(), 2U);
  EXPECT_EQ(two.destinations[0], (Destination{.id = "d1",
                                              .address = "o.example",
                                              .port = 81,
                                              .use_https = true,
                                              .use_destination_host = true,
                                              .weight = 5,
                                              .line = 35}));
  EXPECT_EQ(two.destinations[1].port, 443) << "the default with useHttps";
  EXPECT_EQ(two.tls, (ClusterTls{.ca_path = folder_.at("ca.pem"),
                                 .server_name = "origin.example",
                                 .client_certificate_path = folder_.at("client.pem"),
                                 .client_private_key_path = folder_.at("client.key"),
                                 .ignore_server_certificate_errors = true}));
}

TEST_F(ReadConfig, ReadsTheServer) {
  const Server server = load(kFull).server;
  EXPECT_EQ(server.timeouts, (Timeouts{.connection = milliseconds(61'000),
                                       .connect = milliseconds(500),
                                       .client_handshake = milliseconds(11'000),
                                       .client_header = milliseconds(0),
                                       .response_header = milliseconds(3'000),
                                       .idle_read = milliseconds(4'000),
                                       .idle_write = milliseconds(5'000),
                                       .request = milliseconds(6'001),
                                       .tunnel_idle = milliseconds(12'000),
                                       .network_failure_retry_attempts = 2,
                                       .drain = milliseconds(7'000)}));
  EXPECT_EQ(server.pooling, (Pooling{.enable_connection_pool = false,
                                     .enable_ipv6_unreachable_soft_skip = false,
                                     .no_delay = false,
                                     .enable_tcp_keep_alive = false,
                                     .max_cached_connections = 9,
                                     .max_concurrent_client_connections = 1000,
                                     .worker_threads = 3,
                                     .listener_backlog = 16}));
  EXPECT_EQ(server.limits, (Limits{.max_header_line_bytes = 1000,
                                   .max_header_count = 10,
                                   .max_header_aggregate_bytes = 2000,
                                   .max_trailer_header_count = 0,
                                   .max_trailer_header_block_bytes = 300,
                                   .max_interim_responses = 1,
                                   .max_request_body_bytes = 0,
                                   .min_request_body_bytes_per_second = 13}));
  EXPECT_EQ(server.via_header_pseudonym, "");
  EXPECT_TRUE(server.ignore_server_certificate_errors);
  EXPECT_EQ(server.forwarded_headers, ForwardedHeaders::both);
  EXPECT_TRUE(server.trust_forwarded_headers);
  EXPECT_EQ(server.access_log, (AccessLog{.path = folder_.at("access.log"), .sample_rate = 0.25}));
  EXPECT_EQ(server.tls, (ServerTls{.minimum = TlsVersion::tls13,
                                   .maximum = TlsVersion::tls13,
                                   .key_log_path = folder_.at("keys.log")}));
  EXPECT_EQ(server.dns_server, "127.0.0.1:5353");
}

TEST_F(ReadConfig, ReadsCertificatesAndLogging) {
  const Config config = load(kFull);
  EXPECT_EQ(config.certificates,
            (std::vector<KeyPairFiles>{{folder_.at("ca.pem"), folder_.at("client.key")},
                                       {folder_.at("more.pfx"), ""},
                                       {folder_.at("client.pem"), folder_.at("client.key")}}));
  EXPECT_EQ(config.logging, (Logging{.enabled = false,
                                     .minimum_level = LogLevel::trace,
                                     .enable_console = false,
                                     .enable_console_colors = false,
                                     .enable_file = true,
                                     .file_path = folder_.at("titanium.log"),
                                     .max_file_size_bytes = 5000,
                                     .max_rolled_files = 0,
                                     .queue_capacity = 10}));
}

TEST_F(ReadConfig, FillsInDefaults) {
  const Config config = load("listeners: [{forwardHost: a}]\n");
  EXPECT_EQ(config.listeners[0].port, 8000);
  EXPECT_EQ(config.listeners[0].forward_port, 80);
  EXPECT_EQ(config.server, Server{});
  EXPECT_EQ(config.logging, std::nullopt) << "cli wants to know that the block is absent";
  EXPECT_TRUE(config.certificates.empty());
}

TEST_F(ReadConfig, TakesNullForAbsent) {
  EXPECT_EQ(load("listeners: [{forwardHost: a, port: null, maxConcurrentClients: ~}]\n"
                 "routes:\nserver: {timeouts: null, limits: {maxRequestBodyBytes: }}\nlogging:\n"),
            load("listeners: [{forwardHost: a}]\n"));
}

TEST_F(ReadConfig, TakesEitherNameOfAnAlias) {
  const std::string_view start = "listeners: [{forwardHost: a}]\nserver: ";
  const auto pooling = [&](std::string_view server) {
    return load(std::string(start) + std::string(server)).server.pooling;
  };
  EXPECT_EQ(pooling("{limits: {maxConcurrentClients: 5, maxCachedConnectionsPerHost: 6, "
                    "connectionPoolingEnabled: false}}"),
            (Pooling{.enable_connection_pool = false,
                     .max_cached_connections = 6,
                     .max_concurrent_client_connections = 5}));
  EXPECT_EQ(pooling("{limits: {maxConcurrentClients: 5}, "
                    "pooling: {maxConcurrentClientConnections: 5}}")
                .max_concurrent_client_connections,
            5U);
}

// --- The schema and the reader agree ---

// A file in which every block exists, so that one key more makes one difference.
constexpr std::string_view kEveryBlock = R"(
listeners: [{forwardHost: a}]
routes: [{id: r, clusterId: d, match: {path: /}, limits: {}}]
clusters: [{id: c, destinations: [{address: a}], tls: {}}, {id: d, destinations: [{address: b}]}]
server:
  accessLog: {path: access.log}
  timeouts: {}
  pooling: {}
  limits: {}
  tls: {}
certificates: {certificatePath: more.pfx, additional: [{certificatePath: more.pfx}]}
logging: {filePath: x.log}
)";

// The text of kEveryBlock with the keys (paths as in the schema; first item of a list) set.
std::string with(const std::map<std::string, std::string>& keys) {
  YAML::Node root = YAML::Load(std::string(kEveryBlock));
  for (const auto& [path, value] : keys) {
    YAML::Node node = root;
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto dot = rest.find('.');
      std::string_view part = rest.substr(0, dot);
      rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
      const bool is_list = part.ends_with("[]");
      if (is_list) part.remove_suffix(2);
      node.reset(node[std::string(part)]);
      if (is_list) node.reset(node[0]);
    }
    node = YAML::Load(value);
  }
  YAML::Emitter out;
  out << root;
  return out.c_str();
}

Config without_lines(Config config) {
  for (Listener& listener : config.listeners) listener.line = 0;
  for (Route& route : config.routes) route.line = 0;
  for (Cluster& cluster : config.clusters) {
    cluster.line = 0;
    for (Destination& destination : cluster.destinations) destination.line = 0;
  }
  return config;
}

bool is_block(const Row& row) { return row.type == Type::section || row.type == Type::sections; }

TEST_F(ReadConfig, HasTheDefaultsThatTheSchemaPromises) {
  const Config expected = without_lines(load(kEveryBlock));
  int checked = 0;
  for (const Row& row : schema()) {
    if (is_block(row) || row.default_text.empty() || !row.literal_default) continue;
    SCOPED_TRACE(std::string(row.path));
    const std::string text = with({{std::string(row.path), std::string(row.default_text)}});
    EXPECT_EQ(without_lines(load(text)), expected);
    ++checked;
  }
  EXPECT_GT(checked, 40);
}

// A valid value that is not the default.
std::string other_value(const Row& row) {
  switch (row.type) {
    case Type::boolean:
      return row.default_text == "true" ? "false" : "true";
    case Type::number:
      return "0.5";
    case Type::seconds:
      return "7.25";
    case Type::integer:
      if (row.default_text.empty()) return std::to_string(row.min + 1);
      if (!row.literal_default) return "81";
      return std::to_string(parse_integer(row.default_text, row.min, row.max).value() + 1);
    case Type::word:
      return std::string(row.words[row.words[0] == row.default_text ? 1 : 0]);
    case Type::words:
      return fmt::format("[{}]", row.words.back());
    case Type::host:
    case Type::host_pattern:
      return "other.example";
    case Type::host_patterns:
      return "[other.example]";
    case Type::bind_address:
      return "127.0.0.9";
    case Type::endpoint:
      return "127.0.0.9";
    case Type::path:
      return "/other";
    case Type::method:
      return "PUT";
    case Type::methods:
      return "[PUT]";
    case Type::header_pairs:
    case Type::text_pairs:
      return "{a: b}";
    case Type::input_file:
      return "client.key";
    case Type::output_file:
      return "other.log";
    default:
      return "other";
  }
}

TEST_F(ReadConfig, StoresEveryKeyOfTheSchema) {
  const Config without = without_lines(load(kEveryBlock));
  // Keys that need another one, or a certain value.
  const std::map<std::string_view, std::map<std::string, std::string>> special = {
      {"routes[].clusterId", {{"routes[].clusterId", "c"}}},
      {"clusters[].tls.clientCertificatePath",
       {{"clusters[].tls.clientCertificatePath", "more.pfx"}}},
      {"clusters[].tls.clientPrivateKeyPath",
       {{"clusters[].tls.clientCertificatePath", "client.pem"},
        {"clusters[].tls.clientPrivateKeyPath", "client.key"}}},
      {"certificates.certificatePath", {{"certificates.certificatePath", "./other.pfx"}}},
      {"certificates.privateKeyPath",
       {{"certificates.certificatePath", "client.pem"},
        {"certificates.privateKeyPath", "client.key"}}},
      {"certificates.additional[].certificatePath",
       {{"certificates.additional[].certificatePath", "other.pfx"}}},
      {"certificates.additional[].privateKeyPath",
       {{"certificates.additional[].certificatePath", "client.pem"},
        {"certificates.additional[].privateKeyPath", "client.key"}}},
  };
  // Only informational, and with one value to choose from.
  const std::set<std::string_view> skipped = {"schemaVersion", "listeners[].type"};
  folder_.write("other.pfx", "x");
  for (const Row& row : schema()) {
    if (is_block(row) || skipped.contains(row.path)) continue;
    SCOPED_TRACE(std::string(row.path));
    const auto found = special.find(row.path);
    const auto keys =
        found != special.end()
            ? found->second
            : std::map<std::string, std::string>{{std::string(row.path), other_value(row)}};
    EXPECT_NE(without_lines(load(with(keys))), without);
  }
}

}  // namespace
}  // namespace titanium::config
