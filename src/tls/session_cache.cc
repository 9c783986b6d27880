// SPDX-License-Identifier: MIT
#include "tls/session_cache.h"

#include <utility>

namespace titanium::tls {

void SessionCache::put(std::string_view name, SslSession session) {
  if (limit_ == 0) return;
  const std::lock_guard lock(mutex_);
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    entries_.push_front({.name = std::string(name), .sessions = {}});
    found = by_name_.emplace(std::string(name), entries_.begin()).first;
  } else {
    entries_.splice(entries_.begin(), entries_, found->second);
  }
  auto& sessions = found->second->sessions;
  if (sessions.size() == kPerName) {
    sessions.erase(sessions.begin());
    --size_;
  }
  sessions.push_back(std::move(session));
  ++size_;
  if (size_ > limit_) drop_oldest();
}

void SessionCache::drop_oldest() {
  Entry& last = entries_.back();
  last.sessions.erase(last.sessions.begin());
  --size_;
  if (!last.sessions.empty()) return;
  by_name_.erase(by_name_.find(last.name));
  entries_.pop_back();
}

SslSession SessionCache::take(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  Entry& entry = *found->second;
  SSL_SESSION* newest = entry.sessions.back().get();
  if (SSL_SESSION_get_protocol_version(newest) < TLS1_3_VERSION) {
    SSL_SESSION_up_ref(newest);
    entries_.splice(entries_.begin(), entries_, found->second);
    return SslSession(newest);
  }
  SslSession session = std::move(entry.sessions.back());
  entry.sessions.pop_back();
  --size_;
  if (entry.sessions.empty()) {
    entries_.erase(found->second);
    by_name_.erase(found);
  }
  return session;
}

std::size_t SessionCache::size() {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace titanium::tls
