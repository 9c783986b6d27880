// SPDX-License-Identifier: MIT
//
// What the driver of the load knows of a connection, whatever it speaks. The driver owns time:
// when something is begun, what is counted, what is begun again. A connection owns one wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/chunk.h"
#include "load/load.h"
#include "load/request_plan.h"
#include "net/event_loop.h"
#include "service/alarm_clock.h"
#include "tls/context.h"

namespace titanium::probe {

// A request and its answer, or a WebSocket message and its echo. The driver derives its own.
class Exchange {
 protected:
  ~Exchange() = default;
};

// Told by connections. Each exchange that was begun ends with exactly one of these calls, unless
// it is abandoned.
class ExchangeSink {
 public:
  // The answer was complete and what it should be. May begin this exchange again at once.
  virtual void on_exchange_ok(Exchange& exchange) = 0;
  // `what` is valid during the call. Must not begin anything before it returns.
  virtual void on_exchange_failed(Exchange& exchange, std::string_view what) = 0;

 protected:
  ~ExchangeSink() = default;
};

class ClientConnection {
 public:
  virtual ~ClientConnection() = default;

  // Sends the request of the step; the connection is opened first if it is not open. HTTP/1 and
  // WebSocket take one exchange at a time, multiplexed ones as many as they have streams. Never
  // calls on_exchange_ok() before it returns; may call on_exchange_failed().
  virtual void begin(Exchange& exchange) = 0;
  // Closes hard and forgets what is in flight.
  virtual void abandon() = 0;
};

// What all connections of a step share; outlives them.
struct ClientShared {
  net::EventLoop& loop;
  ChunkPool& pool;
  AlarmClock& alarms;
  ExchangeSink& sink;
  const LoadTarget& target;
  const Workload& workload;
  const RequestPlan& plan;
  const Slice& pattern;
  // All reads go here: bodies are looked at and forgotten. In a chunk of its own, as codecs want
  // slices; nobody keeps one when a read has been dealt with.
  const Slice& scratch;
  // Every connection of the step, and the last of them is the last user. Keeps no sessions, so each
  // connection makes a full handshake: otherwise a proxy that hands out more tickets, or better
  // ones, would be measured with less work.
  std::shared_ptr<const tls::ClientContext> tls;
};

// The connection for the wire and the kind of a step; null if this generator does not speak it.
[[nodiscard]] std::unique_ptr<ClientConnection> make_client_connection(const ClientShared& shared);

}  // namespace titanium::probe
