// SPDX-License-Identifier: MIT
#include "route/route_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/ascii.h"
#include "http/field.h"
#include "http/uri.h"
#include "route/path_template.h"
#include "route/query.h"

namespace titanium::route {
namespace {

// Position in the order in which routes are tried.
using Rank = std::uint32_t;
constexpr Rank kNoRank = std::numeric_limits<Rank>::max();

struct HashText {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};
// Host to the ranks of its entries, best first.
using HostIndex = std::unordered_map<std::string, std::vector<Rank>, HashText, std::equal_to<>>;

enum class HostKind : std::uint8_t { full, wildcard, any };

// One route under one of its hosts: a route with several hosts has a different rank under each.
struct Entry {
  std::size_t route = 0;
  HostKind host_kind = HostKind::any;
  std::string host;  // Lower case; of a wildcard without "*.".
  std::string path;  // Normalised; empty: any, or a template.
  std::optional<PathTemplate> path_template;
};

// In lower case, without the brackets of IPv6 and without the dot that ends a full name.
void assign_host(std::string_view host, std::string& out) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.ends_with('.')) host.remove_suffix(1);
  out.assign(host);
  for (char& c : out) c = to_lower(c);
}

std::expected<Entry, std::string> make_entry(const RouteOptions& route, std::size_t index) {
  Entry entry{
      .route = index, .host_kind = HostKind::any, .host = {}, .path = {}, .path_template = {}};
  if (route.path.empty()) return entry;
  if (!route.path.starts_with('/')) {
    return std::unexpected(fmt::format("route '{}': the path does not start with '/'", route.id));
  }
  if (route.path_kind == PathKind::template_) {
    auto parsed = PathTemplate::parse(route.path);
    if (!parsed) return std::unexpected(fmt::format("route '{}': {}", route.id, parsed.error()));
    entry.path_template = *std::move(parsed);
  } else {
    http::normalize_path(route.path, entry.path);
  }
  return entry;
}

// Smaller is tried first. The parts stand in the order that route_table.h gives.
auto sort_key(const RouteOptions& route, const Entry& entry) {
  enum class Path : std::uint8_t { exact, template_, prefix_or_any };
  const bool is_exact = !route.path.empty() && route.path_kind == PathKind::exact;
  const Path path = is_exact              ? Path::exact
                    : entry.path_template ? Path::template_
                                          : Path::prefix_or_any;
  // Counts where more is better, negated.
  const auto more = [](std::size_t count) { return -static_cast<std::int64_t>(count); };
  const std::int64_t text_segments =
      entry.path_template ? more(entry.path_template->text_segments()) : 0;
  const std::int64_t segments = entry.path_template ? more(entry.path_template->segments()) : 0;
  const bool takes_rest = entry.path_template && entry.path_template->takes_rest();
  const std::size_t conditions =
      route.headers.size() + route.query.size() + (route.methods.empty() ? 0 : 1);
  return std::tuple(route.order, path, text_segments, segments, takes_rest,
                    more(is_exact ? 0 : entry.path.size()), entry.host_kind,
                    more(entry.host.size() * (entry.host_kind == HostKind::wildcard ? 1 : 0)),
                    more(conditions), entry.route);
}

bool has_field(const http::FieldList& fields, std::string_view name, std::string_view value) {
  return std::ranges::any_of(fields, [&](const http::Field& field) {
    return !field.dropped && field.value == value && http::equals_ignore_case(field.name, name);
  });
}

// What a request is compared by.
struct Subject {
  const http::RequestHead& head;
  std::string_view host;
  std::string_view path;
  std::string_view query;
};

bool path_matches(const RouteOptions& route, const Entry& entry, std::string_view path) {
  if (entry.path_template) return entry.path_template->matches(path);
  if (route.path_kind == PathKind::exact && !entry.path.empty()) return path == entry.path;
  // The prefix "/" means everything, "*" included (OPTIONS *, RFC 9112 §3.2.4).
  return entry.path.size() <= 1 || path.starts_with(entry.path);
}

// Everything but the host.
bool conditions_match(const RouteOptions& route, const Entry& entry, const Subject& subject) {
  if (!path_matches(route, entry, subject.path)) return false;
  if (!route.methods.empty() && !std::ranges::contains(route.methods, subject.head.method_text)) {
    return false;
  }
  for (const auto& [name, value] : route.headers) {
    if (!has_field(subject.head.fields, name, value)) return false;
  }
  for (const auto& [name, value] : route.query) {
    if (!query_has(subject.query, name, value)) return false;
  }
  return true;
}

}  // namespace

struct RouteTable::Impl {
  std::vector<Route> routes;
  std::vector<Entry> entries;  // By rank.
  HostIndex by_host;
  HostIndex by_parent;  // Of wildcards.
  std::vector<Rank> any_host;

  void index();
  // The first of `ranks` that matches, if it is better than `best`; else `best`.
  [[nodiscard]] Rank better_match(std::span<const Rank> ranks, const Subject& subject,
                                  Rank best) const;
};

void RouteTable::Impl::index() {
  std::ranges::sort(entries, {},
                    [this](const Entry& entry) { return sort_key(routes[entry.route], entry); });
  for (Rank rank = 0; rank < entries.size(); ++rank) {
    const Entry& entry = entries[rank];
    std::vector<Rank>& list = entry.host_kind == HostKind::any    ? any_host
                              : entry.host_kind == HostKind::full ? by_host[entry.host]
                                                                  : by_parent[entry.host];
    list.push_back(rank);
  }
}

Rank RouteTable::Impl::better_match(std::span<const Rank> ranks, const Subject& subject,
                                    Rank best) const {
  for (const Rank rank : ranks) {
    if (rank >= best) break;
    if (conditions_match(routes[entries[rank].route], entries[rank], subject)) return rank;
  }
  return best;
}

RouteTable::RouteTable() : impl_(std::make_unique<Impl>()) {}
RouteTable::RouteTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RouteTable::~RouteTable() = default;
RouteTable::RouteTable(RouteTable&& other) noexcept = default;
RouteTable& RouteTable::operator=(RouteTable&& other) noexcept = default;

std::expected<RouteTable, std::string> RouteTable::build(std::vector<RouteOptions> routes) {
  auto impl = std::make_unique<Impl>();
  for (std::size_t i = 0; i < routes.size(); ++i) {
    auto entry = make_entry(routes[i], i);
    if (!entry) return std::unexpected(entry.error());
    if (routes[i].hosts.empty()) {
      impl->entries.push_back(*std::move(entry));
      continue;
    }
    for (const std::string_view host : routes[i].hosts) {
      Entry copy = *entry;
      copy.host_kind = host.starts_with("*.") ? HostKind::wildcard : HostKind::full;
      assign_host(copy.host_kind == HostKind::wildcard ? host.substr(2) : host, copy.host);
      if (copy.host.empty() || copy.host.contains('*')) {
        return std::unexpected(fmt::format("route '{}': '{}' is not a host", routes[i].id, host));
      }
      impl->entries.push_back(std::move(copy));
    }
  }
  impl->routes = std::move(routes);
  impl->index();
  return RouteTable(std::move(impl));
}

const Route* RouteTable::match(const http::RequestHead& head, Scratch& scratch) const {
  const auto [raw_path, query, has_query] = http::split_query(head.path);
  http::normalize_path(raw_path, scratch.path);
  // A head without a usable authority can still match routes for any host.
  const auto authority = http::parse_authority(head.authority);
  assign_host(authority ? authority->host : std::string_view{}, scratch.host);
  const Subject subject{.head = head, .host = scratch.host, .path = scratch.path, .query = query};

  Rank best = impl_->better_match(impl_->any_host, subject, kNoRank);
  if (const auto full = impl_->by_host.find(subject.host); full != impl_->by_host.end()) {
    best = impl_->better_match(full->second, subject, best);
  }
  if (!impl_->by_parent.empty()) {
    // "a.b.example": wildcards below "b.example" and below "example".
    std::string_view parent = subject.host;
    for (auto dot = parent.find('.'); dot != std::string_view::npos; dot = parent.find('.')) {
      parent = parent.substr(dot + 1);
      const auto found = impl_->by_parent.find(parent);
      if (found != impl_->by_parent.end()) best = impl_->better_match(found->second, subject, best);
    }
  }
  return best == kNoRank ? nullptr : &impl_->routes[impl_->entries[best].route];
}

std::size_t RouteTable::size() const noexcept { return impl_->routes.size(); }

}  // namespace titanium::route
