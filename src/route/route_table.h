// SPDX-License-Identifier: MIT
//
// Finds the route of a request. Built once, then immutable and shared by all workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/message.h"

namespace titanium::route {

enum class PathKind : std::uint8_t { exact, prefix, template_ };

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A request has to satisfy all that is given here; what is empty matches anything.
struct RouteOptions {
  std::string id = {};
  std::size_t cluster = 0;  // Index into the caller's clusters.
  std::int32_t order = 0;   // Lower wins.

  // Without port, in any case; "*.example.com" stands for all names below example.com.
  std::vector<std::string> hosts = {};
  // Compared after http::normalize_path() on both sides. A prefix is one of characters, not of
  // segments: "/api" takes "/apis" too, "/api/" does not.
  std::string path = {};
  PathKind path_kind = PathKind::prefix;
  std::vector<std::string> methods = {};  // Case-sensitive (RFC 9110 §9.1).
  Pairs headers = {};                     // One field line of this name has exactly this value.
  Pairs query = {};  // One parameter of this name has this value, both decoded.

  // Carried for the exchange engine; absent: the server's.
  std::optional<std::chrono::milliseconds> request_timeout = {};
  std::optional<std::chrono::milliseconds> idle_timeout = {};
};

// What match() returns: the options as given to build().
using Route = RouteOptions;

class RouteTable {
 public:
  // Strings that match() fills anew each time; one per worker, so that matching does not allocate
  // once they have grown.
  struct Scratch {
    std::string host;
    std::string path;
  };

  RouteTable();  // Without routes: matches nothing.
  ~RouteTable();
  RouteTable(RouteTable&& other) noexcept;
  RouteTable& operator=(RouteTable&& other) noexcept;

  // The error is a sentence for the operator that names the route.
  [[nodiscard]] static std::expected<RouteTable, std::string> build(
      std::vector<RouteOptions> routes);

  // The route with the lowest order that matches; of those with the same order the most specific:
  //   1. path: exact, then template (more text segments first), then the longer prefix;
  //   2. host: a full name, then the longer wildcard, then none;
  //   3. more headers, query values and a method; 4. the one that was given first.
  // nullptr if none does. Valid as long as the table.
  [[nodiscard]] const Route* match(const http::RequestHead& head, Scratch& scratch) const;

  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Impl;
  explicit RouteTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::route
