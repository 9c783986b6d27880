// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "load/client_connection.h"
#include "load/load.h"
#include "load/request_plan.h"
#include "net/event_loop.h"
#include "service/alarm_clock.h"

namespace titanium::probe {

// Keeps `concurrency` slots busy, in a closed loop or at fixed times, and counts.
//
// The clock is read once per exchange: the time at which one ends is the time at which the slot
// begins the next one. It is read then and not once per turn, because with many answers in a turn
// the last of them would seem faster than it was.
class Driver final : public LoadGenerator, private ExchangeSink, private AlarmHandler {
 public:
  // What is still in flight at the end of a step is waited for so long.
  static constexpr std::chrono::seconds kPatience{45};

  Driver(LoadOptions options, std::shared_ptr<const tls::ClientContext> tls,
         std::chrono::milliseconds patience = kPatience);
  ~Driver() override;

  // False: there is no connection class for this wire and this kind of workload.
  [[nodiscard]] bool open_slots();

  void warm_up(std::chrono::milliseconds duration) override;
  [[nodiscard]] StepResult measure(std::chrono::milliseconds duration) override;

 private:
  class Slot;

  void on_exchange_ok(Exchange& exchange) override;
  void on_exchange_failed(Exchange& exchange, std::string_view what) override;
  void on_alarm() override;

  void run_step(std::chrono::milliseconds duration);
  void run_loop();
  void abort_step();
  [[nodiscard]] bool is_over() const noexcept;

  // A slot that is free at `now` takes what is to be done next, or waits.
  void employ(Slot& slot, net::TimePoint now);
  void start(Slot& slot, net::TimePoint since);
  [[nodiscard]] net::TimePoint due(std::uint64_t request) const noexcept;
  void start_due(net::TimePoint now);
  void set_rate_alarm();

  LoadOptions options_;
  std::chrono::milliseconds patience_;
  RequestPlan plan_;
  ChunkPool pool_;  // Outlives the loop, which destroys closed connections with their queues.
  net::EventLoop loop_;
  Slice pattern_;
  Slice scratch_;
  AlarmClock alarms_;
  ClientShared shared_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;

  // The step.
  net::TimePoint begin_;
  net::TimePoint end_;
  net::TimePoint last_end_;  // Of an exchange.
  std::uint64_t in_flight_ = 0;
  StepResult result_;

  // At a fixed rate: requests of the step, those begun, and the slots that wait, oldest first.
  std::uint64_t planned_ = 0;
  std::uint64_t begun_ = 0;
  std::vector<Slot*> idle_;  // A ring: rotating over all connections keeps all of them in use.
  std::size_t idle_first_ = 0;
  std::size_t idle_count_ = 0;
};

}  // namespace titanium::probe
