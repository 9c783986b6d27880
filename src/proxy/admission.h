// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace titanium::proxy {

// Client connections that are open now, over all workers.
struct AdmissionCounters {
  explicit AdmissionCounters(std::size_t listeners) : by_listener(listeners) {}
  std::atomic<std::uint64_t> all{0};
  std::vector<std::atomic<std::uint64_t>> by_listener;
};

// The right of one connection to be there. Counted while it exists: it moves from the handshake to
// the session, and a connection that is only refused has none.
class AdmissionTicket {
 public:
  AdmissionTicket() = default;  // Counts nothing.
  AdmissionTicket(AdmissionTicket&& other) noexcept
      : counters_(std::exchange(other.counters_, nullptr)), listener_(other.listener_) {}
  AdmissionTicket& operator=(AdmissionTicket&& other) noexcept {
    std::swap(counters_, other.counters_);
    std::swap(listener_, other.listener_);
    return *this;
  }
  ~AdmissionTicket() {
    if (counters_ == nullptr) return;
    counters_->all.fetch_sub(1, std::memory_order_relaxed);
    counters_->by_listener[listener_].fetch_sub(1, std::memory_order_relaxed);
  }

  // nullopt: one of the limits (absent: none) is reached.
  [[nodiscard]] static std::optional<AdmissionTicket> take(
      AdmissionCounters& counters, std::size_t listener, std::optional<std::uint64_t> limit_all,
      std::optional<std::uint64_t> limit_here) {
    const auto all = counters.all.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto here = counters.by_listener[listener].fetch_add(1, std::memory_order_relaxed) + 1;
    AdmissionTicket ticket(counters, listener);
    if ((limit_all && all > *limit_all) || (limit_here && here > *limit_here)) return std::nullopt;
    return ticket;
  }

 private:
  AdmissionTicket(AdmissionCounters& counters, std::size_t listener) noexcept
      : counters_(&counters), listener_(listener) {}

  AdmissionCounters* counters_ = nullptr;
  std::size_t listener_ = 0;
};

}  // namespace titanium::proxy
