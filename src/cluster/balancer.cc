// SPDX-License-Identifier: MIT
#include "cluster/balancer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace titanium::cluster {

Balancer::Balancer(Algorithm algorithm, std::vector<DestinationOptions> destinations,
                   std::uint64_t seed, HealthOptions health)
    : algorithm_(algorithm),
      health_(health),
      destinations_(std::move(destinations)),
      states_(destinations_.size()),
      random_state_(seed) {
  TI_ASSERT(!destinations_.empty());
  TI_ASSERT(std::ranges::all_of(destinations_, [](const auto& d) { return d.weight > 0; }));
}

bool Balancer::mark_candidates(TimePoint now, std::span<const std::size_t> exclude,
                               bool only_healthy) {
  bool has_candidate = false;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool is_candidate =
        !std::ranges::contains(exclude, i) && !(only_healthy && is_set_aside(i, now));
    states_[i].candidate = is_candidate;
    has_candidate = has_candidate || is_candidate;
  }
  return has_candidate;
}

std::optional<std::size_t> Balancer::pick(TimePoint now, std::span<const std::size_t> exclude) {
  if (!mark_candidates(now, exclude, true) && !mark_candidates(now, exclude, false)) {
    return std::nullopt;
  }
  switch (algorithm_) {
    case Algorithm::round_robin:
      return pick_round_robin();
    case Algorithm::random:
      return pick_random();
    case Algorithm::least_requests:
      return pick_least_requests();
  }
  std::unreachable();
}

// Each turn every candidate earns its weight, the richest one is chosen and pays what all of them
// earned. Credits therefore sum up to the same, and over a full round each destination is chosen as
// often as its weight says, spread evenly.
std::size_t Balancer::pick_round_robin() noexcept {
  std::int64_t earned = 0;
  std::size_t best = states_.size();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (!state.candidate) continue;
    state.credit += destinations_[i].weight;
    earned += destinations_[i].weight;
    if (best == states_.size() || state.credit > states_[best].credit) best = i;
  }
  states_[best].credit -= earned;
  return best;
}

std::size_t Balancer::pick_random() noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].candidate) total += destinations_[i].weight;
  }
  // The modulo favours small values by less than total / 2^64: nobody can measure that.
  std::uint64_t point = next_random() % total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].candidate) continue;
    last = i;
    if (point < destinations_[i].weight) break;
    point -= destinations_[i].weight;
  }
  return last;
}

std::size_t Balancer::pick_least_requests() noexcept {
  const std::size_t count = states_.size();
  std::size_t best = count;
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t i = (turn_ + step) % count;
    if (!states_[i].candidate) continue;
    // a/weight_a < b/weight_b without division. Starting at another place each time is what lets
    // equals take turns.
    if (best == count ||
        static_cast<std::uint64_t>(states_[i].active) * destinations_[best].weight <
            static_cast<std::uint64_t>(states_[best].active) * destinations_[i].weight) {
      best = i;
    }
  }
  turn_ = (best + 1) % count;
  return best;
}

// SplitMix64 (Steele, Lea, Flood 2014): eight bytes of state, and any seed will do.
std::uint64_t Balancer::next_random() noexcept {
  random_state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = random_state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

void Balancer::started(std::size_t index) noexcept { ++states_[index].active; }

void Balancer::finished(std::size_t index, Outcome outcome, TimePoint now) noexcept {
  State& state = states_[index];
  TI_ASSERT(state.active > 0);
  --state.active;
  if (outcome == Outcome::unknown) return;
  if (outcome == Outcome::answered) {
    state.failures_in_a_row = 0;
    state.set_aside_until = TimePoint::min();
    return;
  }
  // After its time aside one failure is enough: the count goes on where it was.
  if (++state.failures_in_a_row >= health_.failures) {
    state.failures_in_a_row = health_.failures;
    state.set_aside_until = now + health_.set_aside;
  }
}

std::size_t Balancer::active(std::size_t index) const noexcept { return states_[index].active; }

bool Balancer::is_set_aside(std::size_t index, TimePoint now) const noexcept {
  return now < states_[index].set_aside_until;
}

}  // namespace titanium::cluster
