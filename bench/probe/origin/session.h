// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

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
  const Slice& scratch;  // All reads go here; nobody keeps any of it.
};

// A connection and its codec. Which class serves a connection is decided once, by ALPN or by what
// the client sends first; a version of HTTP is a class.
class OriginSession {
 public:
  virtual ~OriginSession() = default;

  // Begins to serve, with what was read already. To be called once, when the owner has the session.
  virtual void start(std::string_view received) = 0;
};

[[nodiscard]] std::unique_ptr<OriginSession> make_http1_session(
    const OriginShared& shared, std::unique_ptr<net::Transport> transport);
[[nodiscard]] std::unique_ptr<OriginSession> make_http2_session(
    const OriginShared& shared, std::unique_ptr<net::Transport> transport);

}  // namespace titanium::probe
