// SPDX-License-Identifier: MIT
#include "load/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace titanium::probe {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kScratchBytes = 128 * 1024;

// After a failure a slot waits before it tries again: as a client would, and so that a proxy that
// refuses everything does not turn the step into a loop of connects.
constexpr milliseconds kFirstPause{10};
constexpr unsigned kMostDoublings = 4;

// A connection that is closed after each answer has no use for a second exchange.
std::size_t streams_of(const LoadOptions& options) noexcept {
  if (is_http1(options.target.wire) || !options.workload.keep_alive) return 1;
  return std::max<std::size_t>(1, options.streams_per_connection);
}

Slice make_scratch(ChunkPool& pool) {
  return {.chunk = ChunkRef(pool.take_large(kScratchBytes)), .begin = 0, .end = kScratchBytes};
}

}  // namespace

// One of the `concurrency` exchanges in flight. The alarm is the pause after a failure.
class Driver::Slot final : public Exchange, public AlarmHandler {
 public:
  Slot(Driver& driver, ClientConnection& connection) noexcept
      : driver_(driver), connection_(connection) {}
  ~Slot() { driver_.alarms_.cancel(*this); }

  void begin(net::TimePoint since) {
    since_ = since;
    busy_ = true;
    connection_.begin(*this);
  }
  [[nodiscard]] net::TimePoint end() noexcept {
    busy_ = false;
    failures_ = 0;
    return since_;
  }
  void pause(net::TimePoint now) {
    busy_ = false;
    const unsigned doublings = std::min(failures_++, kMostDoublings);
    driver_.alarms_.set(*this, now + kFirstPause * (1U << doublings));
  }
  void give_up() noexcept { busy_ = false; }
  [[nodiscard]] bool is_busy() const noexcept { return busy_; }

 private:
  void on_alarm() override { driver_.employ(*this, net::Clock::now()); }

  Driver& driver_;
  ClientConnection& connection_;
  net::TimePoint since_;
  unsigned failures_ = 0;
  bool busy_ = false;
};

Driver::Driver(LoadOptions options, std::shared_ptr<const tls::ClientContext> tls,
               milliseconds patience)
    : options_(std::move(options)),
      patience_(patience),
      plan_(plan_request(options_.target, options_.workload)),
      pattern_(make_pattern_slice(pool_)),
      scratch_(make_scratch(pool_)),
      alarms_(loop_),
      shared_{.loop = loop_,
              .pool = pool_,
              .alarms = alarms_,
              .sink = *this,
              .target = options_.target,
              .workload = options_.workload,
              .plan = plan_,
              .pattern = pattern_,
              .scratch = scratch_,
              .tls = std::move(tls)} {}

Driver::~Driver() {
  slots_.clear();
  for (const auto& connection : connections_) connection->abandon();
  connections_.clear();
  alarms_.cancel(*this);
}

bool Driver::open_slots() {
  const std::size_t streams = streams_of(options_);
  for (std::size_t i = 0; i < options_.concurrency; ++i) {
    if (i % streams == 0) {
      connections_.push_back(make_client_connection(shared_));
      if (connections_.back() == nullptr) {
        connections_.clear();
        return false;
      }
    }
    slots_.push_back(std::make_unique<Slot>(*this, *connections_.back()));
  }
  idle_.resize(slots_.size());
  return true;
}

void Driver::warm_up(milliseconds duration) { run_step(duration); }

StepResult Driver::measure(milliseconds duration) {
  run_step(duration);
  result_.measured = std::max<std::chrono::duration<double>>(duration, last_end_ - begin_);
  return std::move(result_);
}

void Driver::run_step(milliseconds duration) {
  // What was closed since the last step is noticed now, and not by a request.
  loop_.run_once(net::Duration(0));
  result_ = {};
  begin_ = last_end_ = net::Clock::now();
  end_ = begin_ + duration;
  const std::chrono::duration<double> seconds = duration;
  planned_ = static_cast<std::uint64_t>(std::floor(seconds.count() * options_.rate));
  begun_ = 0;
  idle_first_ = idle_count_ = 0;
  for (const auto& slot : slots_) {
    alarms_.cancel(*slot);  // A pause that reaches over from the step before.
    employ(*slot, begin_);
  }
  run_loop();
  alarms_.cancel(*this);
}

bool Driver::is_over() const noexcept { return in_flight_ == 0 && begun_ == planned_; }

void Driver::run_loop() {
  const net::TimePoint deadline = end_ + patience_;
  for (;;) {
    const net::TimePoint now = net::Clock::now();
    if (now >= end_ && is_over()) return;
    if (now >= deadline) return abort_step();
    const net::TimePoint next = now < end_ ? end_ : deadline;
    loop_.run_once(std::chrono::ceil<net::Duration>(next - now));
  }
}

void Driver::abort_step() {
  const std::uint64_t left = in_flight_ + (planned_ - begun_);
  result_.errors += left;
  result_.aborted = true;
  if (result_.first_error.empty()) {
    result_.first_error = fmt::format("{} at {}: {} not answered {} s after the end of the step",
                                      plan_.name(), options_.target.address.to_string(), left,
                                      std::chrono::ceil<std::chrono::seconds>(patience_).count());
  }
  for (const auto& slot : slots_) slot->give_up();
  for (const auto& connection : connections_) connection->abandon();
  in_flight_ = 0;
  begun_ = planned_;
  last_end_ = net::Clock::now();
}

void Driver::start(Slot& slot, net::TimePoint since) {
  ++in_flight_;
  slot.begin(since);
}

net::TimePoint Driver::due(std::uint64_t request) const noexcept {
  const std::chrono::duration<double> after(static_cast<double>(request) / options_.rate);
  return begin_ + std::chrono::duration_cast<net::Clock::duration>(after);
}

void Driver::employ(Slot& slot, net::TimePoint now) {
  if (options_.rate > 0) {
    if (begun_ < planned_ && due(begun_) <= now) {
      start(slot, due(begun_++));
      return;
    }
    idle_[(idle_first_ + idle_count_++) % idle_.size()] = &slot;
    if (idle_count_ == 1) set_rate_alarm();
    return;
  }
  if (now < end_) start(slot, now);
}

void Driver::set_rate_alarm() {
  if (begun_ < planned_) alarms_.set(*this, due(begun_));
}

void Driver::on_alarm() { start_due(net::Clock::now()); }

void Driver::start_due(net::TimePoint now) {
  while (idle_count_ > 0 && begun_ < planned_ && due(begun_) <= now) {
    Slot& slot = *idle_[idle_first_];
    idle_first_ = (idle_first_ + 1) % idle_.size();
    --idle_count_;
    start(slot, due(begun_++));
  }
  if (idle_count_ > 0) set_rate_alarm();
}

void Driver::on_exchange_ok(Exchange& exchange) {
  auto& slot = static_cast<Slot&>(exchange);
  const net::TimePoint now = net::Clock::now();
  const auto took = std::chrono::duration_cast<microseconds>(now - slot.end()).count();
  result_.latency.record(static_cast<std::uint64_t>(took));
  ++result_.ok;
  --in_flight_;
  last_end_ = now;
  employ(slot, now);
}

void Driver::on_exchange_failed(Exchange& exchange, std::string_view what) {
  auto& slot = static_cast<Slot&>(exchange);
  ++result_.errors;
  if (result_.first_error.empty()) {
    result_.first_error =
        fmt::format("{} at {}: {}", plan_.name(), options_.target.address.to_string(), what);
  }
  --in_flight_;
  last_end_ = net::Clock::now();
  slot.pause(last_end_);
}

}  // namespace titanium::probe
