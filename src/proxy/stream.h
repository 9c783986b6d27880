// SPDX-License-Identifier: MIT
//
// The two sides of an exchange as the engine sees them. HTTP/1 implements them with one stream per
// connection at a time; multiplexed versions implement them with one object per stream.
//
// Commands go down through these interfaces; what happens comes up as calls of Exchange. A command
// only changes queues and state: it never calls back into the exchange, so the engine can not be
// re-entered. What a command makes possible is done at the end of the loop's turn.
#pragma once

#include <cstddef>

#include "base/chunk.h"
#include "base/error.h"
#include "http/message.h"

namespace titanium::proxy {

// A sender stops its source when more than kBacklogHigh bytes wait in front of it, and lets it go
// on below kBacklogLow. Together with one read they bound what an exchange buffers per direction.
inline constexpr std::size_t kBacklogHigh = 128 * 1024;
inline constexpr std::size_t kBacklogLow = 32 * 1024;

// Where a request came from and its response goes to.
class ClientStream {
 public:
  // 1xx other than 101. Not shown to clients whose version has none.
  virtual void send_interim(const http::ResponseHead& head) = 0;
  // The final head; once.
  virtual void send_head(const http::ResponseHead& head) = 0;
  // Takes everything out of `data`.
  virtual void send_body(ChunkQueue& data) = 0;
  // The response is complete.
  virtual void send_end(const http::FieldList& trailers) = 0;
  // The response can not be completed: makes sure that the client notices, and ends the stream.
  virtual void abort(const Error& error) = 0;

  // Response bytes that were sent but are not in the kernel yet.
  [[nodiscard]] virtual std::size_t backlog() const noexcept = 0;

  // Request body: paused at first, so that nothing is read before there is somewhere to put it.
  virtual void pause_body() = 0;
  virtual void resume_body() = 0;
  // Nobody wants the rest of the request body. The exchange hears no more of it.
  virtual void discard_body() = 0;

  // The request's texts (RequestHead) are not needed any more.
  virtual void release_head() = 0;
  // A 101 was sent, or a 2xx to CONNECT: request bytes from now on are tunnel data.
  virtual void start_tunnel() = 0;

 protected:
  ~ClientStream() = default;
};

// Where a request goes to and its response comes from.
class OriginStream {
 public:
  virtual void send_head(const http::RequestHead& head) = 0;
  // Takes everything out of `data`.
  virtual void send_body(ChunkQueue& data) = 0;
  virtual void send_end(const http::FieldList& trailers) = 0;

  [[nodiscard]] virtual std::size_t backlog() const noexcept = 0;
  // The origin can say of a request that it has processed nothing of it (RFC 9113 §8.7).
  [[nodiscard]] virtual bool may_be_refused() const noexcept { return false; }

  virtual void pause_body() = 0;
  virtual void resume_body() = 0;
  virtual void start_tunnel() = 0;

  // The exchange is over on both directions; the stream may serve another. It forgets the exchange.
  virtual void release() = 0;
  // The exchange ends early. It forgets the exchange.
  virtual void abort() = 0;

 protected:
  ~OriginStream() = default;
};

}  // namespace titanium::proxy
