// SPDX-License-Identifier: MIT
//
// What Titanium has set itself, as data. Figures are medians over the repeats, of the steps with
// kTargetConcurrency requests in flight.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace titanium::probe {

inline constexpr std::uint32_t kTargetConcurrency = 64;

enum class Measure : std::uint8_t {
  cpu,     // CPU µs per request of the proxy.
  rps,     // Requests per second.
  memory,  // Peak resident memory in MiB.
  errors,  // Requests that failed, in all repeats together.
};

// What Titanium's figure is divided by.
enum class Against : std::uint8_t {
  nothing,    // The figure itself counts.
  best_peer,  // The best product that is not ours.
  bare_relay,
  haproxy,
  plain_cell,     // Titanium's own reverse arm of the same wires.
  other_arm,      // Target::baseline.
  fastest_proxy,  // Only for origin-direct: the fastest product.
  unmeasured,     // The result files have no such figure.
};

// Which rows a target is about.
enum class Scope : std::uint8_t {
  h1_to_h1,          // h1c-h1c.
  h1_tls_cells,      // h1c-h1tls, h1tls-h1c, h1tls-h1tls.
  all_cells,         // All 25.
  all_but_h1_to_h1,  // 24.
  h2_to_h2,          // The four cells with HTTP/2 on both legs.
  body64k,           // Each client wire to h1c, and whatever else was measured.
  body256k,
  post64k,
  grpc,              // Both rows of compare-grpc.
  early_and_duplex,  // Early answers and both directions live, HTTP/2 to HTTP/2 and whatever else.
  new_tls_connections,  // Workload nc-tiny.
  mitm_lite,            // Arms twp-mitm-….
  mitm_full,            // Arms twp-mitm-full-….
  one_arm,              // Target::arm.
};

enum class Bound : std::uint8_t { at_most, at_least };

struct Target {
  std::string_view name;
  Measure measure = Measure::rps;
  Scope scope = Scope::one_arm;
  Against against = Against::nothing;
  Bound bound = Bound::at_least;
  double value = 0;
  std::string_view arm = {};       // For Scope::one_arm.
  std::string_view baseline = {};  // For Against::other_arm.
};

inline constexpr auto kTargets = std::to_array<Target>({
    {"The probe itself: origin-direct is fast enough not to hide the proxies", Measure::rps,
     Scope::one_arm, Against::fastest_proxy, Bound::at_least, 2.5, "origin-direct"},
    {"HTTP/1 to HTTP/1: CPU per request against the floor, bare-relay", Measure::cpu,
     Scope::h1_to_h1, Against::bare_relay, Bound::at_most, 1.3},
    {"Every cell: CPU per request against the best peer", Measure::cpu, Scope::all_cells,
     Against::best_peer, Bound::at_most, 0.75},
    {"HTTP/1 cells with TLS, first step: CPU per request against the best peer", Measure::cpu,
     Scope::h1_tls_cells, Against::best_peer, Bound::at_most, 0.8},
    {"HTTP/1 to HTTP/1: requests/s against the best peer", Measure::rps, Scope::h1_to_h1,
     Against::best_peer, Bound::at_least, 1.1},
    {"Every other cell: requests/s against the best peer", Measure::rps, Scope::all_but_h1_to_h1,
     Against::best_peer, Bound::at_least, 1.25},
    {"HTTP/2 to HTTP/2: CPU per request against HAProxy", Measure::cpu, Scope::h2_to_h2,
     Against::haproxy, Bound::at_most, 0.35},
    {"64 KiB bodies: requests/s against the best peer", Measure::rps, Scope::body64k,
     Against::best_peer, Bound::at_least, 1.2},
    {"256 KiB bodies: requests/s against the best peer", Measure::rps, Scope::body256k,
     Against::best_peer, Bound::at_least, 1.2},
    {"POST 64 KiB: requests/s against the best peer", Measure::rps, Scope::post64k,
     Against::best_peer, Bound::at_least, 1.2},
    {"gRPC: requests/s against HAProxy", Measure::rps, Scope::grpc, Against::haproxy,
     Bound::at_least, 1.5},
    {"Early answers and both directions live: errors", Measure::errors, Scope::early_and_duplex,
     Against::nothing, Bound::at_most, 0},
    {"New TLS connections/s against the best peer", Measure::rps, Scope::new_tls_connections,
     Against::best_peer, Bound::at_least, 1.1},
    {"Memory at 64 connections, MiB", Measure::memory, Scope::all_cells, Against::nothing,
     Bound::at_most, 25},
    {"Decrypting, nothing changed: requests/s against the reverse cell", Measure::rps,
     Scope::mitm_lite, Against::plain_cell, Bound::at_least, 0.97},
    {"Decrypting, one field appended each way: requests/s against the reverse cell", Measure::rps,
     Scope::mitm_full, Against::plain_cell, Bound::at_least, 0.95},
    {"Filter: a route", Measure::rps, Scope::one_arm, Against::other_arm, Bound::at_least, 0.97,
     "twp-cli-reverse-http1-route", "twp-cli-reverse-http1"},
    {"Filter: CIDR", Measure::rps, Scope::one_arm, Against::other_arm, Bound::at_least, 0.97,
     "twp-cli-plus-cidr-http1", "twp-cli-reverse-http1"},
    {"Filter: JWT, cached", Measure::rps, Scope::one_arm, Against::other_arm, Bound::at_least, 0.97,
     "twp-cli-plus-jwt-http1", "twp-cli-reverse-http1"},
    {"Filter: rate limit", Measure::rps, Scope::one_arm, Against::other_arm, Bound::at_least, 0.97,
     "twp-cli-plus-ratelimit-http1", "twp-cli-reverse-http1"},
    {"Filter: WAF, path not listed", Measure::rps, Scope::one_arm, Against::other_arm,
     Bound::at_least, 0.97, "twp-cli-plus-waf-http1", "twp-cli-reverse-http1"},
    {"Memory per idle connection: 1 KiB plain, 10 KiB TLS (tests measure it)", Measure::memory,
     Scope::one_arm, Against::unmeasured, Bound::at_most, 1, "idle connections"},
    {"From start to the first answer: 50 ms (tests measure it)", Measure::rps, Scope::one_arm,
     Against::unmeasured, Bound::at_most, 50, "start"},
});

}  // namespace titanium::probe
