// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tls/openssl_ptr.h"

namespace titanium::tls {

// Sessions that clients may resume, by server name; the names used least recently go first. Shared
// by all workers, one look-up per handshake.
class SessionCache {
 public:
  // A pool opens a few connections to one name at once, and TLS 1.3 sessions are used up.
  static constexpr std::size_t kPerName = 4;

  explicit SessionCache(std::size_t limit) noexcept : limit_(limit) {}

  // Nothing happens if the session is there already.
  void put(std::string_view name, SslSession session);

  // A session for this name, or null. A TLS 1.3 session leaves the cache, because using a ticket
  // twice lets an onlooker link the two connections (RFC 8446 §C.4); others stay.
  [[nodiscard]] SslSession take(std::string_view name);

  [[nodiscard]] std::size_t size();

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Entry {
    std::string name;
    std::vector<SslSession> sessions;  // Oldest first; never empty between calls.
  };
  using Entries = std::list<Entry>;  // Used most recently first.

  void add(Entry& entry, SslSession session);
  void drop_oldest();
  void drop_spoiled(Entry& entry);
  void remove(std::string_view name);

  std::mutex mutex_;
  const std::size_t limit_;
  std::size_t size_ = 0;  // Sessions in all entries.
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator, Hash, std::equal_to<>> by_name_;
};

}  // namespace titanium::tls
