// SPDX-License-Identifier: MIT
//
// What a twp.yaml says, as plain values: checked, complete (defaults filled in), and without a
// trace of YAML. Nobody below `cli` sees these types; `cli` maps them onto the options of the
// layers. docs/configuration.md describes each key.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"

namespace titanium::config {

using Duration = std::chrono::milliseconds;                      // In all time-outs 0 means "off".
using Pairs = std::vector<std::pair<std::string, std::string>>;  // In the order of the file.

// Paths are absolute: relative ones were resolved from the folder of the file.
// `line` is the line of the item in the file (from 1), for messages that come after loading.

// What is spoken to an origin. `automatic`: with TLS what it offers, HTTP/2 preferred; else
// HTTP/1.1.
enum class UpstreamProtocol : std::uint8_t { automatic, http11, http2 };

struct Listener {
  std::string host = "0.0.0.0";   // An IPv4 or IPv6 literal without brackets.
  std::uint16_t port = 8000;      // 0: the kernel chooses.
  bool decrypt_ssl = false;       // Terminates TLS.
  std::string forward_host = {};  // Origin of requests that no route takes; empty: they get 404.
  std::uint16_t forward_port = 80;
  bool forward_https = false;
  UpstreamProtocol upstream_protocol = UpstreamProtocol::automatic;  // Of forward_host.
  std::optional<bool> enable_http2 = {};                             // Else the one of Server.
  std::optional<std::uint32_t> max_concurrent_clients = {};
  std::optional<std::uint32_t> max_cached_connections = {};  // Else the one of Pooling.
  int line = 0;
  bool operator==(const Listener&) const = default;
};

enum class PathKind : std::uint8_t { exact, prefix, template_ };

struct Match {
  // "a.example" or "*.a.example", lower case; empty: any host.
  std::vector<std::string> hosts = {};
  std::string path = {};  // Empty: any path.
  PathKind path_kind = PathKind::prefix;
  std::vector<std::string> methods = {};  // Empty: any method.
  Pairs headers = {};
  Pairs query = {};
  bool operator==(const Match&) const = default;
};

struct RouteLimits {
  std::optional<Duration> request_timeout = {};  // Else Timeouts::request.
  std::optional<Duration> idle_timeout = {};     // Else Timeouts::idle_read and idle_write.
  bool operator==(const RouteLimits&) const = default;
};

struct Route {
  std::string id = {};
  std::string cluster_id = {};
  std::size_t cluster = 0;  // Index of that cluster in Config::clusters.
  std::int32_t order = 0;   // Lower wins.
  Match match = {};
  RouteLimits limits = {};
  int line = 0;
  bool operator==(const Route&) const = default;
};

enum class Algorithm : std::uint8_t { round_robin, random, least_requests };

struct Destination {
  std::string id = {};  // If the file gives none: "address:port".
  std::string address = {};
  std::uint16_t port = 80;
  bool use_https = false;
  bool use_destination_host = false;  // Sends `address` as Host instead of the client's.
  std::uint32_t weight = 1;
  int line = 0;
  bool operator==(const Destination&) const = default;
};

struct ClusterTls {
  std::string ca_path = {};      // Empty: the system's store.
  std::string server_name = {};  // For SNI and verification; empty: the destination's address.
  std::string client_certificate_path = {};
  std::string client_private_key_path = {};
  std::optional<bool> ignore_server_certificate_errors = {};  // Else the one of Server.
  bool operator==(const ClusterTls&) const = default;
};

struct Cluster {
  std::string id = {};
  Algorithm algorithm = Algorithm::round_robin;
  UpstreamProtocol upstream_protocol = UpstreamProtocol::automatic;
  std::vector<Destination> destinations = {};  // At least one.
  ClusterTls tls = {};
  int line = 0;
  bool operator==(const Cluster&) const = default;
};

struct Timeouts {
  Duration connection{60'000};        // Idle client connection, idle pooled origin connection.
  Duration connect{20'000};           // Name look-up, connection and TLS handshake to the origin.
  Duration client_handshake{10'000};  // TLS handshake of a client.
  Duration client_header{30'000};     // From the first byte of a request head to its end.
  Duration response_header{0};        // From the end of the request to the origin's head.
  Duration idle_read{0};              // No byte from the origin; 0: `connection` applies.
  Duration idle_write{0};             // Origin takes no byte; 0: `connection` applies.
  Duration request{0};                // The whole exchange.
  Duration tunnel_idle{3'600'000};    // Upgraded connections and event streams.
  std::uint32_t network_failure_retry_attempts = 1;
  Duration drain{10'000};  // From the stop signal until open exchanges are cut; 0: at once.
  bool operator==(const Timeouts&) const = default;
};

struct Pooling {
  bool enable_connection_pool = true;
  bool enable_ipv6_unreachable_soft_skip = true;
  bool no_delay = true;
  bool enable_tcp_keep_alive = true;
  std::uint32_t max_cached_connections = 128;  // Idle, per worker and destination.
  std::optional<std::uint32_t> max_concurrent_client_connections = {};  // All listeners together.
  std::optional<std::uint32_t> worker_threads = {};                     // Absent: one per core.
  std::uint32_t listener_backlog = 1024;
  bool operator==(const Pooling&) const = default;
};

struct Limits {
  std::uint32_t max_header_line_bytes = 64 * 1024;
  std::uint32_t max_header_count = 256;
  std::uint32_t max_header_aggregate_bytes = 256 * 1024;
  std::uint32_t max_trailer_header_count = 100;
  std::uint32_t max_trailer_header_block_bytes = 16 * 1024;
  std::uint32_t max_interim_responses = 20;
  std::uint32_t max_concurrent_streams_per_connection = 256;
  std::uint32_t max_incomplete_stream_resets = 100;  // Per connection and minute.
  std::uint32_t max_decoded_header_list_bytes = 64 * 1024;
  std::uint32_t max_http2_compressed_header_block_bytes = 256 * 1024;
  std::uint32_t max_open_header_block_frames = 128;
  Duration max_open_header_block_duration{10'000};
  std::uint32_t max_origin_http2_connections = 8;            // Per worker and destination.
  std::optional<std::uint64_t> max_request_body_bytes = {};  // Absent: no limit.
  // On the average of one `connection` time-out, until the response begins; 0: any.
  std::uint64_t min_request_body_bytes_per_second = 100;
  bool operator==(const Limits&) const = default;
};

enum class ForwardedHeaders : std::uint8_t { none, x_forwarded, forwarded, both };

struct AccessLog {
  std::string path = {};
  double sample_rate = 1.0;  // 0 to 1.
  bool operator==(const AccessLog&) const = default;
};

enum class TlsVersion : std::uint8_t { tls12, tls13 };

struct ServerTls {
  TlsVersion minimum = TlsVersion::tls12;
  TlsVersion maximum = TlsVersion::tls13;
  std::string key_log_path = {};  // Empty: the environment variable SSLKEYLOGFILE decides.
  bool operator==(const ServerTls&) const = default;
};

struct Server {
  Timeouts timeouts = {};
  Pooling pooling = {};
  Limits limits = {};
  std::string via_header_pseudonym = "titanium";  // A token; empty: no Via.
  bool ignore_server_certificate_errors = false;
  bool enable_http2 = true;    // On both legs.
  bool enable_rfc8441 = true;  // Clients may open WebSockets over HTTP/2.
  ForwardedHeaders forwarded_headers = ForwardedHeaders::x_forwarded;
  bool trust_forwarded_headers = false;  // True: append to what the client sent, else replace it.
  std::optional<AccessLog> access_log = {};
  ServerTls tls = {};
  std::string dns_server = {};  // "ip:port", "[ip]:port"; empty: the system's.
  bool operator==(const Server&) const = default;
};

struct KeyPairFiles {
  std::string certificate_path = {};  // PEM, or PKCS#12 if it ends in .pfx or .p12.
  std::string private_key_path = {};  // Empty for PKCS#12.
  bool operator==(const KeyPairFiles&) const = default;
};

struct Logging {
  bool enabled = true;
  LogLevel minimum_level = LogLevel::error;
  bool enable_console = true;
  bool enable_console_colors = true;
  bool enable_file = false;
  std::string file_path = {};
  std::uint64_t max_file_size_bytes = 10 * 1024 * 1024;
  std::uint32_t max_rolled_files = 5;
  std::uint32_t queue_capacity = 8192;
  bool operator==(const Logging&) const = default;
};

struct Config {
  std::vector<Listener> listeners = {};  // At least one.
  std::vector<Route> routes = {};
  std::vector<Cluster> clusters = {};
  Server server = {};
  // The first one answers clients that name no host, or one that no certificate is for. May be
  // empty although a listener terminates TLS: then `cli` provides one.
  std::vector<KeyPairFiles> certificates = {};
  std::optional<Logging> logging = {};  // Absent: the file has no such block.
  bool operator==(const Config&) const = default;
};

}  // namespace titanium::config
