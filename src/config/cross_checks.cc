// SPDX-License-Identifier: MIT
#include "config/cross_checks.h"

#include <fmt/core.h>

#include <string>
#include <unordered_map>

#include "config/text_values.h"
#include "http/uri.h"
#include "route/path_template.h"

namespace titanium::config {
namespace {

constexpr std::size_t kMaxSuggestions = 1'000;

// Reports ids that occur twice. `id_of` gives the text that has to be unique.
template <typename Item, typename IdOf>
void check_unique(std::span<const Section> sections, std::span<const Item> items,
                  std::string_view key, IdOf id_of) {
  std::unordered_map<std::string, std::size_t> first_use;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string id = id_of(items[i]);
    if (id.empty() || !sections[i].is_sound(key)) continue;
    const auto [first, is_new] = first_use.try_emplace(id, i);
    if (is_new) continue;
    sections[i].error(
        key, fmt::format("{} is taken by {}, line {}", in_quotes(id),
                         sections[first->second].path_of(""), sections[first->second].line()));
  }
}

std::string listen_address(const Listener& listener) {
  return listener.host.contains(':') ? fmt::format("[{}]:{}", listener.host, listener.port)
                                     : fmt::format("{}:{}", listener.host, listener.port);
}

void check_same_address(std::span<const Section> sections, const Config& config) {
  std::unordered_map<std::string, std::size_t> first_use;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Listener& listener = config.listeners[i];
    const bool is_sound = sections[i].is_sound("port") && sections[i].is_sound("host");
    if (!is_sound || listener.port == 0) continue;
    const auto [first, is_new] = first_use.try_emplace(listen_address(listener), i);
    if (is_new) continue;
    sections[i].error(
        sections[i].has("port") ? "port" : "",
        fmt::format("{} is taken by {}, line {}", listen_address(listener),
                    sections[first->second].path_of(""), sections[first->second].line()));
  }
}

}  // namespace

void check_listener_type(const Section& section) {
  enum class ListenerType : std::uint8_t { transparent, explicit_, socks, quic };
  ListenerType type = ListenerType::transparent;
  section.read("type", type);
  if (type == ListenerType::transparent) return;
  const std::string_view name = type == ListenerType::explicit_ ? "explicit"
                                : type == ListenerType::socks   ? "socks"
                                                                : "quic";
  section.error(
      "type",
      fmt::format("type '{}' is not available in this version; available: transparent", name));
}

void check_algorithm(const Section& section, Algorithm algorithm) {
  if (algorithm <= Algorithm::least_requests) return;  // The schema has one word more.
  section.error("algorithm",
                "'LeastTime' is not available in this version; available: RoundRobin, Random, "
                "LeastRequests");
}

void check_match(const Section& section, const Match& match) {
  if (!section.is_given()) return;
  const bool is_empty = match.hosts.empty() && match.path.empty() && match.methods.empty() &&
                        match.headers.empty() && match.query.empty();
  if (is_empty && section.is_sound("")) {
    section.error("", "has no condition", "to match everything, write 'path: /'");
  }
  if (match.path.empty()) {
    if (section.has("pathKind") && !section.has("path")) {
      section.warning("pathKind", "has no effect without 'path'");
    }
    return;
  }
  if (match.path_kind == PathKind::template_) {
    if (const auto parsed = route::PathTemplate::parse(match.path); !parsed) {
      section.error("path", parsed.error());
    }
  } else if (!http::check_origin_form(match.path)) {
    section.error("path",
                  fmt::format("{} has characters that a path cannot have", in_quotes(match.path)),
                  "write them percent-encoded");
  }
}

void check_key_pair(const Section& section, std::string_view certificate_key,
                    std::string_view private_key_key) {
  const bool has_certificate = section.has(certificate_key);
  const bool has_key = section.has(private_key_key);
  if (has_key && !has_certificate) {
    section.error(private_key_key, fmt::format("needs '{}'", certificate_key));
  }
  if (!has_certificate) return;
  const bool holds_key = is_pkcs12(section.raw_text(certificate_key));
  if (!holds_key && !has_key) {
    section.error(certificate_key, fmt::format("needs '{}'", private_key_key));
  }
  if (holds_key && has_key) {
    section.error(private_key_key, "must not be given with PKCS#12, which has the key in it");
  }
}

void check_limits(const Section& section, const Limits& limits) {
  if (limits.max_header_line_bytes <= limits.max_header_aggregate_bytes) return;
  const bool is_line_given = section.has("maxHeaderLineBytes");
  section.error(is_line_given ? "maxHeaderLineBytes" : "maxHeaderAggregateBytes",
                fmt::format("one line may be larger ({}) than all of them ({})",
                            limits.max_header_line_bytes, limits.max_header_aggregate_bytes));
}

void check_logging(const Section& section, const Logging& logging) {
  if (logging.enable_file && !section.has("filePath")) {
    section.error("enableFile", "needs 'filePath'");
  }
}

void check_listeners(const Section& file, std::span<const Section> sections, const Config& config) {
  if (sections.empty() && file.has("listeners")) {
    if (file.is_sound("listeners")) file.error("listeners", "must have at least one item");
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    if (!section.is_given() || section.has("forwardHost")) continue;
    if (config.routes.empty() && file.is_sound("routes")) {
      section.error("", "has nowhere to send requests to",
                    "give it a 'forwardHost', or the file 'routes' and 'clusters'");
    }
    for (const std::string_view key : {"forwardPort", "forwardHttps"}) {
      if (section.has(key)) section.warning(key, "has no effect without 'forwardHost'");
    }
  }
  check_same_address(sections, config);
}

void check_destinations(const Section& cluster, std::span<const Section> sections,
                        std::span<const Destination> destinations) {
  if (sections.empty()) {
    if (cluster.is_given() && cluster.is_sound("destinations")) {
      cluster.error("destinations", "must have at least one item");
    }
    return;
  }
  check_unique(sections, destinations, "id",
               [](const Destination& d) { return d.address.empty() ? std::string() : d.id; });
}

void check_clusters(std::span<const Section> sections, const Config& config) {
  check_unique(sections, std::span(config.clusters), "id",
               [](const Cluster& cluster) { return cluster.id; });
}

void check_routes(std::span<const Section> sections, Config& config) {
  check_unique(sections, std::span<const Route>(config.routes), "id",
               [](const Route& route) { return route.id; });

  std::unordered_map<std::string_view, std::size_t> clusters;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < config.clusters.size(); ++i) {
    if (config.clusters[i].id.empty()) continue;
    clusters.try_emplace(config.clusters[i].id, i);
    names.push_back(config.clusters[i].id);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Route& route = config.routes[i];
    if (route.cluster_id.empty()) continue;  // Reported: it is required.
    if (const auto found = clusters.find(route.cluster_id); found != clusters.end()) {
      route.cluster = found->second;
      continue;
    }
    // With very many clusters looking for the nearest name would take longer than it helps.
    const std::string_view meant =
        names.size() <= kMaxSuggestions ? nearest(route.cluster_id, names) : "";
    sections[i].error("clusterId",
                      fmt::format("there is no cluster {}", in_quotes(route.cluster_id)),
                      meant.empty() ? "" : fmt::format("did you mean '{}'?", meant));
  }
}

}  // namespace titanium::config
