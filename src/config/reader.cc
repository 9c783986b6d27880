// SPDX-License-Identifier: MIT
#include "config/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/cross_checks.h"
#include "config/text_values.h"

namespace titanium::config {
namespace {

// A setting that has two names. Both may be given if they say the same.
template <typename T>
void read_alias(const Section& main, std::string_view main_key, const Section& other,
                std::string_view other_key, T& out) {
  if (!other.has(other_key)) return;
  T value = out;
  other.read(other_key, value);
  if (main.has(main_key) && value != out) {
    other.error(other_key, fmt::format("contradicts {}", main.path_of(main_key)),
                "they are two names of one setting: give one of them");
    return;
  }
  out = value;
}

Listener read_listener(const Section& section) {
  Listener listener;
  listener.line = section.line();
  section.read("host", listener.host);
  section.read("port", listener.port);
  check_listener_type(section);
  section.read("decryptSsl", listener.decrypt_ssl);
  section.read("forwardHost", listener.forward_host);
  section.read("forwardHttps", listener.forward_https);
  if (listener.forward_https) listener.forward_port = 443;
  section.read("forwardPort", listener.forward_port);
  section.read("upstreamHttpProtocol", listener.upstream_protocol);
  section.read("enableHttp2", listener.enable_http2);
  section.read("maxConcurrentClients", listener.max_concurrent_clients);
  section.read("maxCachedConnections", listener.max_cached_connections);
  return listener;
}

Match read_match(const Section& section) {
  Match match;
  if (section.has("host")) section.read("host", match.hosts.emplace_back());
  section.read("hosts", match.hosts);
  section.read("path", match.path);
  section.read("pathKind", match.path_kind);
  if (section.has("method")) section.read("method", match.methods.emplace_back());
  section.read("methods", match.methods);
  section.read("headers", match.headers);
  section.read("query", match.query);
  check_match(section, match);
  return match;
}

Route read_route(const Section& section) {
  Route route;
  route.line = section.line();
  section.read("id", route.id);
  section.read("clusterId", route.cluster_id);
  section.read("order", route.order);
  route.match = read_match(section.child("match"));
  const Section limits = section.child("limits");
  limits.read("requestTimeoutSeconds", route.limits.request_timeout);
  limits.read("idleTimeoutSeconds", route.limits.idle_timeout);
  return route;
}

Destination read_destination(const Section& section) {
  Destination destination;
  destination.line = section.line();
  section.read("address", destination.address);
  section.read("useHttps", destination.use_https);
  if (destination.use_https) destination.port = 443;
  section.read("port", destination.port);
  section.read("useDestinationHost", destination.use_destination_host);
  section.read("weight", destination.weight);
  destination.id = fmt::format("{}:{}", destination.address, destination.port);
  section.read("id", destination.id);
  return destination;
}

ClusterTls read_cluster_tls(const Section& section) {
  ClusterTls tls;
  section.read("caPath", tls.ca_path);
  section.read("serverName", tls.server_name);
  section.read("clientCertificatePath", tls.client_certificate_path);
  section.read("clientPrivateKeyPath", tls.client_private_key_path);
  section.read("ignoreServerCertificateErrors", tls.ignore_server_certificate_errors);
  check_key_pair(section, "clientCertificatePath", "clientPrivateKeyPath");
  return tls;
}

Cluster read_cluster(const Section& section) {
  Cluster cluster;
  cluster.line = section.line();
  section.read("id", cluster.id);
  section.read("algorithm", cluster.algorithm);
  check_algorithm(section, cluster.algorithm);
  section.read("upstreamHttpProtocol", cluster.upstream_protocol);
  const std::vector<Section> destinations = section.children("destinations");
  for (const Section& destination : destinations) {
    cluster.destinations.push_back(read_destination(destination));
  }
  check_destinations(section, destinations, cluster.destinations);
  cluster.tls = read_cluster_tls(section.child("tls"));
  return cluster;
}

Timeouts read_timeouts(const Section& section) {
  Timeouts timeouts;
  section.read("connectionTimeOutSeconds", timeouts.connection);
  section.read("connectTimeOutSeconds", timeouts.connect);
  section.read("clientHandshakeTimeoutSeconds", timeouts.client_handshake);
  section.read("clientHeaderTimeoutSeconds", timeouts.client_header);
  section.read("responseHeaderTimeoutSeconds", timeouts.response_header);
  section.read("idleReadTimeoutSeconds", timeouts.idle_read);
  section.read("idleWriteTimeoutSeconds", timeouts.idle_write);
  section.read("requestTimeoutSeconds", timeouts.request);
  section.read("tunnelIdleTimeoutSeconds", timeouts.tunnel_idle);
  section.read("networkFailureRetryAttempts", timeouts.network_failure_retry_attempts);
  section.read("drainTimeoutSeconds", timeouts.drain);
  return timeouts;
}

// `limits` has other names for three of these settings.
Pooling read_pooling(const Section& section, const Section& limits) {
  Pooling pooling;
  section.read("enableConnectionPool", pooling.enable_connection_pool);
  section.read("enableIpv6UnreachableSoftSkip", pooling.enable_ipv6_unreachable_soft_skip);
  section.read("noDelay", pooling.no_delay);
  section.read("enableTcpKeepAlive", pooling.enable_tcp_keep_alive);
  section.read("maxCachedConnections", pooling.max_cached_connections);
  section.read("maxConcurrentClientConnections", pooling.max_concurrent_client_connections);
  section.read("threadPoolWorkerThread", pooling.worker_threads);
  section.read("listenerBackLog", pooling.listener_backlog);
  read_alias(section, "enableConnectionPool", limits, "connectionPoolingEnabled",
             pooling.enable_connection_pool);
  read_alias(section, "maxCachedConnections", limits, "maxCachedConnectionsPerHost",
             pooling.max_cached_connections);
  read_alias(section, "maxConcurrentClientConnections", limits, "maxConcurrentClients",
             pooling.max_concurrent_client_connections);
  return pooling;
}

Limits read_limits(const Section& section) {
  Limits limits;
  section.read("maxHeaderLineBytes", limits.max_header_line_bytes);
  section.read("maxHeaderCount", limits.max_header_count);
  section.read("maxHeaderAggregateBytes", limits.max_header_aggregate_bytes);
  section.read("maxTrailerHeaderCount", limits.max_trailer_header_count);
  section.read("maxTrailerHeaderBlockBytes", limits.max_trailer_header_block_bytes);
  section.read("maxInterimResponses", limits.max_interim_responses);
  section.read("maxConcurrentStreamsPerConnection", limits.max_concurrent_streams_per_connection);
  section.read("maxPeerInitiatedIncompleteStreamResets", limits.max_incomplete_stream_resets);
  section.read("maxDecodedHeaderListBytes", limits.max_decoded_header_list_bytes);
  section.read("maxHttp2CompressedHeaderBlockBytes",
               limits.max_http2_compressed_header_block_bytes);
  section.read("maxOpenHeaderBlockFrames", limits.max_open_header_block_frames);
  section.read("maxOpenHeaderBlockDurationSeconds", limits.max_open_header_block_duration);
  section.read("maxOriginHttp2ConnectionsPerAuthority", limits.max_origin_http2_connections);
  section.read("maxRequestBodyBytes", limits.max_request_body_bytes);
  section.read("minRequestBodyBytesPerSecond", limits.min_request_body_bytes_per_second);
  check_limits(section, limits);
  return limits;
}

std::optional<AccessLog> read_access_log(const Section& section) {
  AccessLog log;
  section.read("path", log.path);
  section.read("sampleRate", log.sample_rate);
  if (log.path.empty()) return std::nullopt;
  return log;
}

ServerTls read_server_tls(const Section& section) {
  ServerTls tls;
  std::vector<TlsVersion> versions{TlsVersion::tls12, TlsVersion::tls13};
  section.read("supportedSslProtocols", versions);
  if (versions.empty()) {
    section.error("supportedSslProtocols", "must have at least one version");
  } else {
    std::tie(tls.minimum, tls.maximum) =
        std::pair(std::ranges::min(versions), std::ranges::max(versions));
  }
  section.read("keyLogPath", tls.key_log_path);
  return tls;
}

Server read_server(const Section& section) {
  Server server;
  const Section limits = section.child("limits");
  server.timeouts = read_timeouts(section.child("timeouts"));
  server.pooling = read_pooling(section.child("pooling"), limits);
  server.limits = read_limits(limits);
  section.read("viaHeaderPseudonym", server.via_header_pseudonym);
  section.read("ignoreServerCertificateErrors", server.ignore_server_certificate_errors);
  section.read("enableHttp2", server.enable_http2);
  section.read("enableRfc8441", server.enable_rfc8441);
  section.read("forwardedHeaders", server.forwarded_headers);
  section.read("trustForwardedHeaders", server.trust_forwarded_headers);
  section.read("dnsServerEndPoint", server.dns_server);
  server.access_log = read_access_log(section.child("accessLog"));
  server.tls = read_server_tls(section.child("tls"));
  return server;
}

KeyPairFiles read_key_pair(const Section& section) {
  KeyPairFiles files;
  section.read("certificatePath", files.certificate_path);
  section.read("privateKeyPath", files.private_key_path);
  check_key_pair(section, "certificatePath", "privateKeyPath");
  return files;
}

std::vector<KeyPairFiles> read_certificates(const Section& section) {
  std::vector<KeyPairFiles> certificates;
  if (KeyPairFiles first = read_key_pair(section); !first.certificate_path.empty()) {
    certificates.push_back(std::move(first));
  }
  for (const Section& item : section.children("additional")) {
    certificates.push_back(read_key_pair(item));
  }
  return certificates;
}

std::optional<Logging> read_logging(const Section& section) {
  if (!section.is_given()) return std::nullopt;
  Logging logging;
  section.read("enabled", logging.enabled);
  section.read("minimumLevel", logging.minimum_level);
  section.read("enableConsole", logging.enable_console);
  section.read("enableConsoleColors", logging.enable_console_colors);
  section.read("enableFile", logging.enable_file);
  section.read("filePath", logging.file_path);
  section.read("maxFileSizeBytes", logging.max_file_size_bytes);
  section.read("maxRolledFiles", logging.max_rolled_files);
  section.read("queueCapacity", logging.queue_capacity);
  check_logging(section, logging);
  return logging;
}

}  // namespace

Config read_config(ReadContext& context, const Value& root) {
  Config config;
  const Section file(context, root);
  std::string schema_version;
  file.read("schemaVersion", schema_version);

  const std::vector<Section> listeners = file.children("listeners");
  const std::vector<Section> routes = file.children("routes");
  const std::vector<Section> clusters = file.children("clusters");
  for (const Section& section : listeners) config.listeners.push_back(read_listener(section));
  for (const Section& section : routes) config.routes.push_back(read_route(section));
  for (const Section& section : clusters) {
    config.clusters.push_back(read_cluster(section));
  }
  check_listeners(file, listeners, config);
  check_clusters(clusters, config);
  check_routes(routes, config);

  config.server = read_server(file.child("server"));
  config.certificates = read_certificates(file.child("certificates"));
  config.logging = read_logging(file.child("logging"));
  return config;
}

}  // namespace titanium::config
