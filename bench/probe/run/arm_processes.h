// SPDX-License-Identifier: MIT
//
// The processes of one arm in one repeat: its origin, its proxy, and the bad network if the load
// has one. Frozen whenever another arm is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arms/arm.h"
#include "load/load.h"
#include "run/child_process.h"
#include "run/scratch.h"

namespace titanium::probe {

struct StartOptions {
  std::string probe_program;           // This program, for its own children.
  std::string product_program;         // Of the arm's product; empty for controls.
  std::filesystem::path certificates;  // See make_certificates().
  std::uint32_t pool_connections = 128;
  bool pool_given = false;
  std::chrono::milliseconds ready_within{45'000};
};

class ArmProcesses {
 public:
  // Starts everything and waits until an exchange of the arm's wires succeeds. The error has the
  // last lines of what the product said, and the folder with its configuration, which is kept.
  [[nodiscard]] static std::expected<std::unique_ptr<ArmProcesses>, std::string> start(
      const Arm& arm, const StartOptions& options);

  // Where the generator has to connect to.
  [[nodiscard]] const LoadTarget& target() const noexcept { return target_; }
  // Whose use of CPU and memory counts: the proxy, or without one the origin.
  [[nodiscard]] pid_t measured_pid() const noexcept;
  // One sentence, if a process ended by itself; else empty.
  [[nodiscard]] std::string obituary();

  void freeze();
  void thaw();

 private:
  ArmProcesses(const Arm& arm, ScratchFolder folder) : arm_(arm), folder_(std::move(folder)) {}

  [[nodiscard]] std::expected<void, std::string> start_all(const StartOptions& options);
  [[nodiscard]] std::expected<void, std::string> start_origin(const StartOptions& options);
  [[nodiscard]] std::expected<void, std::string> start_control(const StartOptions& options);
  [[nodiscard]] std::expected<void, std::string> start_product(const StartOptions& options);
  [[nodiscard]] std::expected<void, std::string> start_shim(const StartOptions& options);
  // One of our own children, and the line with its ports.
  [[nodiscard]] std::expected<std::string, std::string> start_own(
      const StartOptions& options, std::unique_ptr<ChildProcess>& child, std::string name,
      std::vector<std::string> arguments);
  [[nodiscard]] std::expected<void, std::string> wait_until_ready(const StartOptions& options);
  [[nodiscard]] std::string explain(const std::string& problem);
  void for_each(const std::function<void(ChildProcess&)>& action);

  Arm arm_;
  ScratchFolder folder_;
  LoadTarget target_;
  std::uint16_t origin_port_ = 0;  // Of the arm's origin wire.
  std::uint16_t port_ = 0;         // Where the client leg ends.
  // In the order of starting; ended in the reverse one.
  std::unique_ptr<ChildProcess> origin_;
  std::unique_ptr<ChildProcess> proxy_;
  std::unique_ptr<ChildProcess> shim_;
};

// A port on 127.0.0.1 that nobody listens on, outside the range from which the kernel takes those
// of clients: one of the many connections of a run must not take it before the product does.
[[nodiscard]] std::uint16_t free_port();

// "http=123" of "ready http=123 https=456"; 0 if it is not there.
[[nodiscard]] std::uint16_t port_in(std::string_view line, std::string_view key);

}  // namespace titanium::probe
