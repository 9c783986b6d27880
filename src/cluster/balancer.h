// SPDX-License-Identifier: MIT
//
// Chooses the destination of each request within a cluster, and remembers which ones fail.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/outcome.h"

namespace titanium::cluster {

using TimePoint = std::chrono::steady_clock::time_point;

enum class Algorithm : std::uint8_t {
  round_robin,     // Smooth weighted: weights 5,1,1 give A A B A C A A, not A A A A A B C.
  random,          // By weight.
  least_requests,  // The fewest active requests per weight; those that are equal take turns.
};

struct DestinationOptions {
  std::string id = {};
  std::string address = {};  // Name or IP literal without brackets.
  std::uint16_t port = 80;
  bool use_https = false;
  bool use_destination_host = false;  // Send `address` as Host, instead of the client's.
  std::uint32_t weight = 1;           // At least 1.
};

// Passive health: what the traffic itself shows.
struct HealthOptions {
  std::uint32_t failures = 3;  // So many in a row put a destination aside; a success resets.
  std::chrono::milliseconds set_aside{10'000};  // Then it is tried again; one failure suffices.
};

// One per worker and cluster; belongs to the worker's thread. Never allocates after construction.
class Balancer {
 public:
  // `destinations` has at least one element. `seed` is for Algorithm::random.
  Balancer(Algorithm algorithm, std::vector<DestinationOptions> destinations, std::uint64_t seed,
           HealthOptions health = {});

  // The destination to try next, never one of `exclude` (those that this exchange has tried
  // already); nullopt if all are excluded. A destination that was set aside is chosen only if
  // no other one is left: likely failure is better than certain failure.
  [[nodiscard]] std::optional<std::size_t> pick(TimePoint now,
                                                std::span<const std::size_t> exclude = {});

  // An attempt on this destination begins and ends; each started() has one finished(). `failed`
  // means that the destination could not be reached or broke the connection, not a 5xx answer;
  // `unknown` leaves the count of failures as it was.
  void started(std::size_t index) noexcept;
  void finished(std::size_t index, Outcome outcome, TimePoint now) noexcept;

  [[nodiscard]] std::size_t active(std::size_t index) const noexcept;
  [[nodiscard]] bool is_set_aside(std::size_t index, TimePoint now) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return destinations_.size(); }
  [[nodiscard]] const DestinationOptions& destination(std::size_t index) const noexcept {
    return destinations_[index];
  }

 private:
  struct State {
    std::int64_t credit = 0;  // Of the smooth round robin.
    std::size_t active = 0;
    std::uint32_t failures_in_a_row = 0;
    TimePoint set_aside_until = TimePoint::min();
    bool candidate = false;  // For the pick() that is running.
  };

  bool mark_candidates(TimePoint now, std::span<const std::size_t> exclude, bool only_healthy);
  [[nodiscard]] std::size_t pick_round_robin() noexcept;
  [[nodiscard]] std::size_t pick_random() noexcept;
  [[nodiscard]] std::size_t pick_least_requests() noexcept;
  [[nodiscard]] std::uint64_t next_random() noexcept;

  Algorithm algorithm_;
  HealthOptions health_;
  std::vector<DestinationOptions> destinations_;
  std::vector<State> states_;
  std::uint64_t random_state_;
  std::size_t turn_ = 0;  // Where least_requests starts looking.
};

}  // namespace titanium::cluster
