// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "results/results.h"
#include "results/row.h"

namespace titanium::probe::testing {

// A step that met its limits.
inline Row step(std::string_view arm, std::string_view row_key, std::string_view product,
                double rps, double cpu_us, std::uint32_t concurrency = 64,
                std::uint32_t repeat = 1) {
  Row row;
  row.timestamp_utc = "2026-11-30T22:00:00Z";
  row.arm = arm;
  row.row_key = row_key;
  row.product = product;
  row.generator = "titanium-load";
  row.concurrency = concurrency;
  row.duration_s = 8;
  row.ok = static_cast<std::uint64_t>(rps * 8);
  row.rps = rps;
  row.meets_slo = true;
  row.method = "GET";
  row.proxy_rss_peak_bytes = 12 * 1024 * 1024;
  row.repeat = repeat;
  row.cpu_us_per_request = cpu_us;
  return row;
}

inline Results results_of(std::vector<Row> rows) {
  Results results;
  add_rows(results, std::move(rows));
  return results;
}

// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "probe-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  // Writes a file and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::string_view text) const {
    const std::string file = path(name);
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  [[nodiscard]] std::string write_rows(std::string_view name, const std::vector<Row>& rows) const {
    std::string text(csv_header());
    text += '\n';
    for (const Row& row : rows) text += to_csv(row) + "\n";
    return write(name, text);
  }
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string contents_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace titanium::probe::testing
