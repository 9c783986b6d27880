// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/chunk.h"
#include "net/event_loop.h"
#include "net/transport.h"
#include "origin/answers.h"

namespace titanium::probe {

class OriginSession;

// Who owns the sessions.
class SessionOwner {
 public:
  // The session is over; it is destroyed at the end of the turn.
  virtual void remove(OriginSession& session) = 0;

 protected:
  ~SessionOwner() = default;
};

// What all sessions of an origin share; outlives them.
struct OriginShared {
  net::EventLoop& loop;
  ChunkPool& pool;
  SessionOwner& owner;
  Answers& answers;
  const Slice& pattern;
  std::span<std::uint8_t> scratch;  // All reads go here.
};

// A connection and its codec. Which class serves a connection is decided once, by ALPN or by what
// the client sends first; a version of HTTP is a class.
class OriginSession {
 public:
  virtual ~OriginSession() = default;
};

[[nodiscard]] std::unique_ptr<OriginSession> make_http1_session(
    const OriginShared& shared, std::unique_ptr<net::Transport> transport);

}  // namespace titanium::probe
