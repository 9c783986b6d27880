// SPDX-License-Identifier: MIT
#include "tls/session_cache.h"

#include <algorithm>
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
  add(*found->second, std::move(session));
  if (size_ > limit_) drop_oldest();
}

void SessionCache::add(Entry& entry, SslSession session) {
  if (std::ranges::contains(entry.sessions, session)) {
    return;
  }
  if (entry.sessions.size() == kPerName) {
    entry.sessions.erase(entry.sessions.begin());
    --size_;
  }
  entry.sessions.push_back(std::move(session));
  ++size_;
}

void SessionCache::drop_oldest() {
  Entry& last = entries_.back();
  last.sessions.erase(last.sessions.begin());
  --size_;
  if (last.sessions.empty()) remove(last.name);
}

// OpenSSL marks a TLS 1.2 session that the server has replaced by another one.
void SessionCache::drop_spoiled(Entry& entry) {
  size_ -= std::erase_if(entry.sessions, [](const SslSession& session) {
    return SSL_SESSION_is_resumable(session.get()) == 0;
  });
}

void SessionCache::remove(std::string_view name) {
  const auto found = by_name_.find(name);
  const auto entry = found->second;
  by_name_.erase(found);
  entries_.erase(entry);
}

SslSession SessionCache::take(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  Entry& entry = *found->second;
  drop_spoiled(entry);
  SslSession session;
  if (!entry.sessions.empty()) {
    SSL_SESSION* newest = entry.sessions.back().get();
    if (SSL_SESSION_get_protocol_version(newest) < TLS1_3_VERSION) {
      SSL_SESSION_up_ref(newest);
      entries_.splice(entries_.begin(), entries_, found->second);
      return SslSession(newest);
    }
    session = std::move(entry.sessions.back());
    entry.sessions.pop_back();
    --size_;
  }
  if (entry.sessions.empty()) remove(name);
  return session;
}

std::size_t SessionCache::size() {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace titanium::tls
