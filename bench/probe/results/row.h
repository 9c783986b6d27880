// SPDX-License-Identifier: MIT
//
// One line of a result file: an arm, a step of its ramp, a repeat. The first 27 columns have the
// names and the order of the original's files, so that its scripts read ours; ours follow.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace titanium::probe {

struct Row {
  std::string timestamp_utc;  // ISO 8601
  std::string arm;
  std::string generator;  // Ratios are refused between arms of different generators.
  std::uint32_t concurrency = 0;
  double duration_s = 0;
  std::uint64_t ok = 0;
  std::uint64_t errors = 0;
  double rps = 0;
  double error_rate_pct = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
  bool meets_slo = false;
  // Empty: not part of this run.
  std::string nginx_version;
  std::string haproxy_version;
  std::string envoy_version;
  std::string yarp_version;
  std::string http_versions;           // "client>origin", as in row keys: "h1c>h1tls".
  std::string max_cached_connections;  // Empty: the product's default.
  std::string method;
  std::uint64_t response_bytes = 0;
  std::uint64_t request_bytes = 0;
  std::uint32_t delay_ms = 0;
  double loss_percent = 0;
  bool keepalive = true;
  // Of the proxy and all its descendants (origin-direct: of the origin).
  std::uint64_t proxy_rss_peak_bytes = 0;
  double proxy_cpu_avg_pct = 0;  // 100: all logical CPUs.

  // ---- After the 27.
  std::string row_key;  // "h1c-h1c-body64k": arms with the same key are compared.
  std::string product;  // "titanium", "nginx", "haproxy", "bare-relay", …
  std::string product_version;
  std::uint32_t repeat = 1;
  double cpu_us_per_request = 0;  // User + system of the proxy's tree, over the measured window.
  double cpu_user_us_per_request = 0;
  double voluntary_ctx_per_request = 0;
  double rate = 0;   // Of --rate; 0: closed loop.
  std::string note;  // First error, "aborted", …
};

// The header line, without line end.
[[nodiscard]] std::string_view csv_header();
// RFC 4180: quoted where needed. Without line end.
[[nodiscard]] std::string to_csv(const Row& row);
// Reads a file: an error says line and column name. Columns are found by their names, extra
// ones ignored, ours may be missing (files of the original). An empty number is 0.
//
// A last line that is cut off, as an interrupted run leaves it, is left out; `warning`, if given,
// then becomes a sentence about it.
[[nodiscard]] std::expected<std::vector<Row>, std::string> read_csv(std::string_view text,
                                                                    std::string* warning = nullptr);

}  // namespace titanium::probe
