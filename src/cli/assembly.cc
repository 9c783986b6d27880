// SPDX-License-Identifier: MIT
#include "cli/assembly.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/router.h"
#include "tls/certificates/certificate_authority.h"
#include "tls/context.h"

namespace titanium::cli {
namespace {

[[nodiscard]] tls::TlsVersion to_tls(config::TlsVersion version) {
  return version == config::TlsVersion::tls12 ? tls::TlsVersion::tls12 : tls::TlsVersion::tls13;
}

[[nodiscard]] cluster::Algorithm to_algorithm(config::Algorithm algorithm) {
  switch (algorithm) {
    case config::Algorithm::round_robin:
      return cluster::Algorithm::round_robin;
    case config::Algorithm::random:
      return cluster::Algorithm::random;
    case config::Algorithm::least_requests:
      return cluster::Algorithm::least_requests;
  }
  std::unreachable();
}

[[nodiscard]] proxy::OriginProtocol to_protocol(config::UpstreamProtocol protocol,
                                                bool enable_http2) {
  switch (protocol) {
    case config::UpstreamProtocol::automatic:
      return enable_http2 ? proxy::OriginProtocol::automatic : proxy::OriginProtocol::http1;
    case config::UpstreamProtocol::http11:
      return proxy::OriginProtocol::http1;
    case config::UpstreamProtocol::http2:
      return proxy::OriginProtocol::http2;
  }
  std::unreachable();
}

[[nodiscard]] std::vector<std::string> alpn_of(proxy::OriginProtocol protocol) {
  switch (protocol) {
    case proxy::OriginProtocol::automatic:
      return {"h2", "http/1.1"};
    case proxy::OriginProtocol::http1:
      return {"http/1.1"};
    case proxy::OriginProtocol::http2:
      return {"h2"};
  }
  std::unreachable();
}

[[nodiscard]] route::PathKind to_path_kind(config::PathKind kind) {
  switch (kind) {
    case config::PathKind::exact:
      return route::PathKind::exact;
    case config::PathKind::prefix:
      return route::PathKind::prefix;
    case config::PathKind::template_:
      return route::PathKind::template_;
  }
  std::unreachable();
}

[[nodiscard]] proxy::ForwardedFields to_forwarded(config::ForwardedHeaders headers) {
  switch (headers) {
    case config::ForwardedHeaders::none:
      return proxy::ForwardedFields::none;
    case config::ForwardedHeaders::x_forwarded:
      return proxy::ForwardedFields::x_forwarded;
    case config::ForwardedHeaders::forwarded:
      return proxy::ForwardedFields::forwarded;
    case config::ForwardedHeaders::both:
      return proxy::ForwardedFields::both;
  }
  std::unreachable();
}

[[nodiscard]] cluster::DestinationOptions to_destination(const config::Destination& from) {
  return {.id = from.id,
          .address = from.address,
          .port = from.port,
          .use_https = from.use_https,
          .use_destination_host = from.use_destination_host,
          .weight = from.weight};
}

// host[:port] as it stands in Host: no default port, IPv6 literals in brackets.
[[nodiscard]] std::string authority_of(const cluster::DestinationOptions& destination) {
  const bool is_ipv6 = destination.address.contains(':');
  std::string authority = is_ipv6 ? '[' + destination.address + ']' : destination.address;
  const std::uint16_t usual = destination.use_https ? 443 : 80;
  if (destination.port != usual) authority += fmt::format(":{}", destination.port);
  return authority;
}

// The name of this machine, for certificates; empty if it has none.
[[nodiscard]] std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

void copy_limits(const config::Server& from, proxy::ServerOptions& to) {
  to.limits.head = {.line_bytes = from.limits.max_header_line_bytes,
                    .head_bytes = from.limits.max_header_aggregate_bytes,
                    .fields = from.limits.max_header_count};
  to.limits.body.trailer_bytes = from.limits.max_trailer_header_block_bytes;
  to.limits.body.trailer_fields = from.limits.max_trailer_header_count;
  to.limits.interim_responses = from.limits.max_interim_responses;
  to.limits.request_body_bytes = from.limits.max_request_body_bytes;
  to.limits.request_body_bytes_per_second = from.limits.min_request_body_bytes_per_second;
  to.limits.concurrent_clients = from.pooling.max_concurrent_client_connections;
}

void copy_http2(const config::Server& from, http2::Options& to) {
  const config::Limits& limits = from.limits;
  to.concurrent_streams = limits.max_concurrent_streams_per_connection;
  to.incomplete_resets = limits.max_incomplete_stream_resets;
  to.fields = {.list_bytes = limits.max_decoded_header_list_bytes,
               .fields = limits.max_header_count};
  to.trailers = {.list_bytes = limits.max_trailer_header_block_bytes,
                 .fields = limits.max_trailer_header_count};
  to.header_block_bytes = limits.max_http2_compressed_header_block_bytes;
  to.header_block_frames = limits.max_open_header_block_frames;
  // In a file 0 means "for ever".
  const bool limited = limits.max_open_header_block_duration > config::Duration::zero();
  to.header_block_time = limited ? limits.max_open_header_block_duration : std::chrono::days(365);
  to.extended_connect = from.enable_rfc8441;
}

void copy_timeouts(const config::Timeouts& from, proxy::Timeouts& to) {
  to.idle = from.connection;
  to.connect = from.connect;
  to.client_handshake = from.client_handshake;
  to.client_header = from.client_header;
  to.response_header = from.response_header;
  to.idle_read = from.idle_read;
  to.idle_write = from.idle_write;
  to.request = from.request;
  to.tunnel_idle = from.tunnel_idle;
  // In a file 0 means "at once"; to the server it means "no limit".
  to.drain = std::max(from.drain, config::Duration(1));
}

void copy_server(const config::Server& from, proxy::ServerOptions& to) {
  copy_timeouts(from.timeouts, to.timeouts);
  copy_limits(from, to);
  copy_http2(from, to.http2);
  to.pooling = {.enabled = from.pooling.enable_connection_pool,
                .idle_connections = from.pooling.max_cached_connections,
                .http2_connections = from.limits.max_origin_http2_connections,
                .retry_attempts = from.timeouts.network_failure_retry_attempts,
                .no_delay = from.pooling.no_delay,
                .tcp_keep_alive = from.pooling.enable_tcp_keep_alive,
                .ipv6_soft_skip = from.pooling.enable_ipv6_unreachable_soft_skip};
  to.forwarding = {.via_pseudonym = from.via_header_pseudonym,
                   .fields = to_forwarded(from.forwarded_headers),
                   .trust_incoming = from.trust_forwarded_headers};
  to.workers = from.pooling.worker_threads.value_or(0);
  to.listen_backlog = static_cast<int>(from.pooling.listener_backlog);
  to.dns_server = from.dns_server;
}

// Collects problems instead of stopping at the first one.
class Assembler {
 public:
  Assembler(const config::Config& config, const AssemblyInput& input)
      : config_(config), input_(input) {}

  [[nodiscard]] std::expected<Assembly, std::vector<config::Diagnostic>> run() {
    copy_server(config_.server, result_.options);
    make_server_context();
    make_client_contexts();
    make_route_table();
    for (std::size_t i = 0; i < config_.listeners.size(); ++i) add_listener(i);
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    give_router_factory();
    return std::move(result_);
  }

 private:
  using ClientContextPtr = std::shared_ptr<const tls::ClientContext>;
  // How a group of origins is spoken to.
  struct OriginTls {
    proxy::OriginProtocol protocol = proxy::OriginProtocol::automatic;
    ClientContextPtr context = nullptr;  // Null: clear.
    ClientContextPtr http1_context = nullptr;
    std::string server_name = {};
  };

  void problem(int line, std::string path, std::string message, std::string hint = {}) {
    problems_.push_back({.severity = config::Severity::error,
                         .file = input_.file_name,
                         .position = {.line = line, .column = line > 0 ? 1 : 0},
                         .path = std::move(path),
                         .message = std::move(message),
                         .hint = std::move(hint)});
  }

  // Empty: none. A context creates the file at once, so a mere check goes without.
  [[nodiscard]] std::string key_log_path() const {
    if (!input_.may_create_files) return {};
    const std::string& configured = config_.server.tls.key_log_path;
    return configured.empty() ? input_.key_log_path : configured;
  }

  // --- TLS towards clients ---

  // All listeners have the same certificates; one context serves those that offer HTTP/2, one the
  // others.
  void make_server_context() {
    const bool needed = std::ranges::any_of(config_.listeners, &config::Listener::decrypt_ssl);
    std::vector<tls::KeyPairPem> pairs = load_certificates();
    if (!needed || !problems_.empty()) return;
    if (pairs.empty()) {
      if (!input_.may_create_files) return;
      if (auto minted = mint()) pairs.push_back(std::move(*minted));
    }
    if (pairs.empty()) return;
    tls::ServerOptions options;
    options.key_pairs = std::move(pairs);
    options.minimum = to_tls(config_.server.tls.minimum);
    options.maximum = to_tls(config_.server.tls.maximum);
    options.key_log_path = key_log_path();
    for (const config::Listener& listener : config_.listeners) {
      auto& slot = server_contexts_[offers_http2(listener)];
      if (!listener.decrypt_ssl || slot != nullptr) continue;
      options.alpn = {"http/1.1"};
      if (offers_http2(listener)) options.alpn.insert(options.alpn.begin(), "h2");
      auto context = tls::ServerContext::create(options);
      if (!context) return problem(0, "certificates", std::move(context.error().what));
      slot = std::move(*context);
    }
  }

  [[nodiscard]] bool offers_http2(const config::Listener& listener) const {
    return listener.enable_http2.value_or(config_.server.enable_http2);
  }

  [[nodiscard]] std::vector<tls::KeyPairPem> load_certificates() {
    std::vector<tls::KeyPairPem> pairs;
    for (const config::KeyPairFiles& files : config_.certificates) {
      auto pair = tls::load_key_pair(files.certificate_path, files.private_key_path,
                                     input_.certificate_password);
      if (pair) {
        pairs.push_back(std::move(*pair));
      } else {
        problem(0, "certificates", std::move(pair.error().what),
                "a password for PKCS#12 comes from TITANIUM_CERT_PASSWORD");
      }
    }
    return pairs;
  }

  [[nodiscard]] std::optional<tls::KeyPairPem> mint() {
    const std::string folder = input_.certificate_folder.empty() ? tls::default_certificate_folder()
                                                                 : input_.certificate_folder;
    auto authority = tls::CertificateAuthority::open_or_create(folder);
    if (!authority) {
      problem(0, "certificates", std::move(authority.error().what),
              "name a certificate in 'certificates', or make that folder writable");
      return std::nullopt;
    }
    auto pair = authority->issue(names_to_certify());
    if (!pair) {
      problem(0, "certificates", std::move(pair.error().what));
      return std::nullopt;
    }
    result_.root_certificate_path = folder + "/root.pem";
    return std::move(*pair);
  }

  // How clients may call us: by the usual local names, and by what routes and listeners say.
  [[nodiscard]] std::vector<std::string> names_to_certify() const {
    std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
    const auto add = [&](const std::string& name) {
      if (!name.empty() && !std::ranges::contains(names, name)) names.push_back(name);
    };
    add(machine_name());
    for (const config::Listener& listener : config_.listeners) {
      const bool is_any = listener.host == "0.0.0.0" || listener.host == "::";
      if (listener.decrypt_ssl && !is_any) add(listener.host);
    }
    for (const config::Route& route : config_.routes) {
      for (const std::string& host : route.match.hosts) add(host);
    }
    return names;
  }

  // --- TLS towards origins ---

  [[nodiscard]] OriginTls make_origin_tls(config::UpstreamProtocol protocol, bool needs_tls,
                                          const config::ClusterTls& from, int line,
                                          const std::string& path) {
    OriginTls made{.protocol = to_protocol(protocol, config_.server.enable_http2),
                   .server_name = from.server_name};
    if (!needs_tls) return made;
    made.context = make_client_context(from, line, path, alpn_of(made.protocol));
    // What is wrong with one is wrong with the other, and has been reported.
    if (made.context != nullptr && made.protocol == proxy::OriginProtocol::automatic) {
      made.http1_context =
          make_client_context(from, line, path, alpn_of(proxy::OriginProtocol::http1));
    }
    return made;
  }

  [[nodiscard]] ClientContextPtr make_client_context(const config::ClusterTls& from, int line,
                                                     const std::string& path,
                                                     std::vector<std::string> alpn) {
    tls::ClientOptions options;
    options.alpn = std::move(alpn);
    options.verify = !from.ignore_server_certificate_errors.value_or(
        config_.server.ignore_server_certificate_errors);
    options.ca_path = from.ca_path;
    options.key_log_path = key_log_path();
    if (!from.client_certificate_path.empty()) {
      auto pair = tls::load_key_pair(from.client_certificate_path, from.client_private_key_path,
                                     input_.certificate_password);
      if (!pair) {
        problem(line, path, std::move(pair.error().what));
        return nullptr;
      }
      options.client_key_pair = std::move(*pair);
    }
    auto context = tls::ClientContext::create(options);
    if (!context) {
      problem(line, path, std::move(context.error().what));
      return nullptr;
    }
    return std::move(*context);
  }

  void make_client_contexts() {
    for (std::size_t i = 0; i < config_.clusters.size(); ++i) {
      const config::Cluster& cluster = config_.clusters[i];
      const bool needed =
          std::ranges::any_of(cluster.destinations, &config::Destination::use_https);
      cluster_tls_.push_back(make_origin_tls(cluster.upstream_protocol, needed, cluster.tls,
                                             cluster.line, fmt::format("clusters[{}]", i)));
    }
  }

  // --- Routes and endpoints ---

  void make_route_table() {
    std::vector<route::RouteOptions> routes;
    for (const config::Route& from : config_.routes) {
      routes.push_back({.id = from.id,
                        .cluster = from.cluster,
                        .order = from.order,
                        .hosts = from.match.hosts,
                        .path = from.match.path,
                        .path_kind = to_path_kind(from.match.path_kind),
                        .methods = from.match.methods,
                        .headers = from.match.headers,
                        .query = from.match.query,
                        .request_timeout = from.limits.request_timeout,
                        .idle_timeout = from.limits.idle_timeout});
      add_settings({.request_timeout = from.limits.request_timeout,
                    .idle_timeout = from.limits.idle_timeout});
    }
    auto table = route::RouteTable::build(std::move(routes));
    if (!table) return problem(0, "routes", std::move(table.error()));
    routes_ = std::make_shared<const route::RouteTable>(std::move(*table));
  }

  void add_settings(const proxy::RouteSettings& settings) {
    const bool known = std::ranges::any_of(settings_, [&](const proxy::RouteSettings& other) {
      return other.request_timeout == settings.request_timeout &&
             other.idle_timeout == settings.idle_timeout;
    });
    if (!known) settings_.push_back(settings);
  }

  // Adds the endpoints of a group and returns where they begin.
  std::size_t add_endpoints(const std::vector<cluster::DestinationOptions>& destinations,
                            const OriginTls& tls, std::optional<std::uint32_t> idle_connections) {
    std::vector<proxy::OriginEndpoint>& endpoints = result_.options.endpoints;
    const std::size_t first = endpoints.size();
    for (const cluster::DestinationOptions& destination : destinations) {
      endpoints.push_back({.index = endpoints.size(),
                           .id = destination.id,
                           .host = destination.address,
                           .port = destination.port,
                           .protocol = tls.protocol,
                           .tls = destination.use_https ? tls.context : nullptr,
                           .tls_http1 = destination.use_https ? tls.http1_context : nullptr,
                           .server_name = tls.server_name,
                           .authority_override = destination.use_destination_host
                                                     ? authority_of(destination)
                                                     : std::string(),
                           .idle_connections = idle_connections});
    }
    return first;
  }

  // Endpoints have one pool each: a listener with a pool depth of its own gets its own endpoints,
  // all others share theirs.
  [[nodiscard]] GroupPlan plan_cluster(std::size_t index, std::optional<std::uint32_t> idle) {
    const config::Cluster& cluster = config_.clusters[index];
    GroupPlan plan{.algorithm = to_algorithm(cluster.algorithm), .destinations = {}};
    std::ranges::transform(cluster.destinations, std::back_inserter(plan.destinations),
                           to_destination);
    const auto [at, is_new] = cluster_endpoints_.try_emplace({index, idle}, 0);
    if (is_new) {
      at->second = add_endpoints(plan.destinations, cluster_tls_[index], idle);
    }
    plan.first_endpoint = at->second;
    return plan;
  }

  [[nodiscard]] GroupPlan plan_forward(const config::Listener& listener) {
    GroupPlan plan;
    plan.destinations = {{.id = fmt::format("{}:{}", listener.forward_host, listener.forward_port),
                          .address = listener.forward_host,
                          .port = listener.forward_port,
                          .use_https = listener.forward_https}};
    plan.first_endpoint =
        add_endpoints(plan.destinations,
                      make_origin_tls(listener.upstream_protocol, listener.forward_https, {},
                                      listener.line, "listeners"),
                      listener.max_cached_connections);
    return plan;
  }

  void add_listener(std::size_t index) {
    const config::Listener& listener = config_.listeners[index];
    const auto address = net::SocketAddress::parse(listener.host, listener.port);
    if (!address) {
      return problem(listener.line, fmt::format("listeners[{}].host", index),
                     "this is no IP address");
    }
    result_.options.listeners.push_back(
        {.address = *address,
         .tls = listener.decrypt_ssl ? server_contexts_[offers_http2(listener)] : nullptr,
         .concurrent_clients = listener.max_concurrent_clients,
         .http2 = offers_http2(listener)});
    const bool is_ipv6 = address->is_ipv6();
    result_.urls.push_back(fmt::format("{}://{}{}{}:", listener.decrypt_ssl ? "https" : "http",
                                       is_ipv6 ? "[" : "", address->ip(), is_ipv6 ? "]" : ""));

    auto plan = std::make_shared<RouterPlan>();
    plan->routes = routes_;
    plan->settings = settings_;
    for (std::size_t i = 0; i < config_.clusters.size(); ++i) {
      plan->groups.push_back(plan_cluster(i, listener.max_cached_connections));
    }
    if (!listener.forward_host.empty()) {
      plan->fallback = plan->groups.size();
      plan->groups.push_back(plan_forward(listener));
    }
    plans_.push_back(std::move(plan));
  }

  // Each router starts its random choices elsewhere, or all workers would choose alike.
  void give_router_factory() {
    const auto start =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    auto seeds = std::make_shared<std::atomic<std::uint64_t>>(start);
    result_.options.make_router = [plans = std::move(plans_), seeds](
                                      std::size_t listener,
                                      const std::vector<proxy::OriginEndpoint>& endpoints) {
      constexpr std::uint64_t kStride = 0x9e37'79b9'7f4a'7c15;
      return std::unique_ptr<proxy::Router>(std::make_unique<ConfiguredRouter>(
          plans[listener], endpoints, seeds->fetch_add(kStride)));
    };
  }

  const config::Config& config_;
  const AssemblyInput& input_;
  Assembly result_;
  std::vector<config::Diagnostic> problems_;
  std::array<std::shared_ptr<const tls::ServerContext>, 2> server_contexts_;  // With HTTP/2: [1].
  std::vector<OriginTls> cluster_tls_;                                        // By cluster.
  std::shared_ptr<const route::RouteTable> routes_;
  std::vector<proxy::RouteSettings> settings_;
  std::map<std::pair<std::size_t, std::optional<std::uint32_t>>, std::size_t> cluster_endpoints_;
  std::vector<std::shared_ptr<const RouterPlan>> plans_;
};

}  // namespace

std::expected<Assembly, std::vector<config::Diagnostic>> assemble(const config::Config& config,
                                                                  const AssemblyInput& input) {
  return Assembler(config, input).run();
}

}  // namespace titanium::cli
