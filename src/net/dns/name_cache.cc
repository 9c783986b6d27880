// SPDX-License-Identifier: MIT
#include "net/dns/name_cache.h"

#include <algorithm>
#include <utility>

namespace titanium::net {

const NameCache::Answer* NameCache::find(std::string_view name, TimePoint now) const {
  const auto found = index_.find(name);
  if (found == index_.end() || found->second->expires <= now) return nullptr;
  return &found->second->answer;
}

void NameCache::put(std::string_view name, Answer answer, std::chrono::seconds ttl, TimePoint now) {
  const TimePoint expires = now + (answer ? std::clamp(ttl, kLeastTtl, kMostTtl) : kFailureTtl);
  if (const auto found = index_.find(name); found != index_.end()) {
    const auto row = found->second;
    row->answer = std::move(answer);
    row->expires = expires;
    rows_.splice(rows_.end(), rows_, row);
    return;
  }
  if (rows_.size() >= capacity_) {
    index_.erase(rows_.front().name);
    rows_.pop_front();
  }
  rows_.push_back({std::string(name), std::move(answer), expires});
  index_.emplace(rows_.back().name, std::prev(rows_.end()));
}

}  // namespace titanium::net
