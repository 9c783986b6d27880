// SPDX-License-Identifier: MIT
//
// Internal to net.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "net/address.h"
#include "net/timer.h"

namespace titanium::net {

// Answers to name look-ups, for as long as they are good. Bounded: the oldest answer makes room.
class NameCache {
 public:
  using Answer = Result<std::vector<SocketAddress>>;
  static constexpr std::chrono::seconds kLeastTtl{1};
  static constexpr std::chrono::seconds kMostTtl{300};
  static constexpr std::chrono::seconds kFailureTtl{1};

  explicit NameCache(std::size_t capacity) : capacity_(capacity) {}

  // Null if there is none. Valid until the next put().
  [[nodiscard]] const Answer* find(std::string_view name, TimePoint now) const;
  // `ttl` is what the servers said; it is clamped here, and not used for failures.
  void put(std::string_view name, Answer answer, std::chrono::seconds ttl, TimePoint now);
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }

 private:
  struct Row {
    std::string name;
    Answer answer;
    TimePoint expires;
  };
  using Rows = std::list<Row>;

  std::size_t capacity_;
  Rows rows_;                                                   // The oldest first.
  std::unordered_map<std::string_view, Rows::iterator> index_;  // Keys point into the rows.
};

}  // namespace titanium::net
