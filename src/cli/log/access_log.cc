// SPDX-License-Identifier: MIT
#include "cli/log/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "cli/log/access_log_line.h"
#include "cli/signals.h"

namespace titanium::cli {
namespace {

// After the stop signal, how long a reader of a pipe may keep us waiting.
constexpr std::chrono::milliseconds kPatience{1000};

[[nodiscard]] std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

std::expected<std::unique_ptr<AccessLog>, std::string> AccessLog::open(AccessLogOptions options) {
  // O_NONBLOCK matters for pipes only: their reader must not be able to hold up our stop.
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  // The lines name clients: not for everybody on the machine.
  net::FileDescriptor file(::open(options.path.c_str(), kFlags, 0640));
  if (!file) {
    return std::unexpected(fmt::format("the access log '{}' cannot be opened: {}", options.path,
                                       std::strerror(errno)));
  }
  return std::unique_ptr<AccessLog>(new AccessLog(std::move(file), std::move(options)));
}

AccessLog::AccessLog(net::FileDescriptor file, AccessLogOptions options)
    : options_(std::move(options)),
      file_(std::move(file)),
      sampler_(options_.sample_rate),
      ring_(options_.ring_bytes),
      writer_([this] { write_all(); }) {}

AccessLog::~AccessLog() {
  closing_.store(true, std::memory_order_relaxed);
  ring_.close();
  writer_.join();
  if (dropped() + unwritten() > 0) {
    options_.logger.log(LogLevel::warning,
                        "access log: {} lines dropped as the writer was behind, {} not written",
                        dropped(), unwritten());
  }
}

void AccessLog::on_exchange_finished(const proxy::ExchangeFinished& event) noexcept {
  if (!sampler_.take()) return;
  std::array<char, kMaxAccessLogLineBytes> line;
  const std::size_t bytes = write_access_log_line(event, line);
  ring_.push({line.data(), bytes});
}

void AccessLog::write_all() {
  block_all_signals();
  std::string batch;
  while (ring_.take(batch)) write_batch(batch);
}

void AccessLog::write_batch(std::string_view batch) {
  if (torn_) {
    const ssize_t taken = ::write(file_.get(), "\n", 1);
    if (taken != 1) return note_failure(errno, batch);
    torn_ = false;
  }
  while (!batch.empty()) {
    const ssize_t taken = ::write(file_.get(), batch.data(), batch.size());
    if (taken > 0) {
      torn_ = batch[static_cast<std::size_t>(taken) - 1] != '\n';
      batch.remove_prefix(static_cast<std::size_t>(taken));
      continue;
    }
    const int error = errno;
    if (taken < 0 && error == EINTR) continue;
    if (taken < 0 && error == EAGAIN && wait_for_room()) continue;
    return note_failure(error, batch);
  }
}

bool AccessLog::wait_for_room() {
  pollfd entry{.fd = file_.get(), .events = POLLOUT, .revents = 0};
  constexpr int kSlice = 100;  // Milliseconds; then look whether we are being stopped.
  auto left = kPatience;
  while (left.count() > 0) {
    if (::poll(&entry, 1, kSlice) > 0) return true;
    if (closing_.load(std::memory_order_relaxed)) left -= std::chrono::milliseconds(kSlice);
  }
  return false;
}

void AccessLog::note_failure(int error, std::string_view unwritten) {
  unwritten_.fetch_add(count_lines(unwritten), std::memory_order_relaxed);
  if (failures_.pass(std::chrono::steady_clock::now())) {
    options_.logger.log(LogLevel::error, "access log: {} lines lost so far, writing to '{}': {}",
                        this->unwritten(), options_.path, std::strerror(error));
  }
}

}  // namespace titanium::cli
