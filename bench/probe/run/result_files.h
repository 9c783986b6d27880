// SPDX-License-Identifier: MIT
//
// What a run leaves behind: rps-ramp-TIME.csv, one line per step as soon as it was measured, and
// rps-ramp-TIME-environment.json, which says on what and with what it was measured.
#pragma once

#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arms/arm.h"
#include "net/file_descriptor.h"
#include "results/row.h"

namespace titanium::probe {

class ResultFiles {
 public:
  // Makes the folder, if it is not there, and both files; the CSV has its header then.
  [[nodiscard]] static std::expected<ResultFiles, std::string> create(
      const std::filesystem::path& folder, std::string_view environment_json);

  // One write per line: whatever ends the probe, the file has whole lines. False: errno says why.
  [[nodiscard]] bool append(const Row& row);
  [[nodiscard]] const std::filesystem::path& csv() const noexcept { return csv_; }

 private:
  ResultFiles(std::filesystem::path csv, net::FileDescriptor file)
      : csv_(std::move(csv)), file_(std::move(file)) {}
  std::filesystem::path csv_;
  net::FileDescriptor file_;
};

// The present time, as "20260102-030405" and as "2026-01-02T03:04:05Z".
[[nodiscard]] std::string utc_for_file_names();
[[nodiscard]] std::string utc_iso8601();

struct UsedProduct {
  std::string name;
  std::string program;
  std::string version;
  std::string flags;  // What the program says of itself.
};
struct AbsentArm {
  Arm arm;
  std::string status;  // "not installed", "not possible" or "not possible yet"
  std::string reason;
};
// results/environment.h reads it.
[[nodiscard]] std::string environment_json(std::span<const std::string> command_line,
                                           std::span<const UsedProduct> products,
                                           std::span<const AbsentArm> absent);

}  // namespace titanium::probe
