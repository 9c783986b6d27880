// SPDX-License-Identifier: MIT
#include "run/result_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "run/child_process.h"
#include "run/scratch.h"
#include "titanium/version.h"

namespace titanium::probe {
namespace {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

[[nodiscard]] std::string system_error(const std::filesystem::path& path) {
  return fmt::format("{}: {}", path.string(), std::strerror(errno));
}

// The value of the first line "key : value" of a file such as /proc/cpuinfo.
[[nodiscard]] std::string value_of(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return {};
  std::size_t begin = text.find(':', at);
  if (begin == std::string::npos) return {};
  begin = text.find_first_not_of(" \t", begin + 1);
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Of the folder in which the probe was built, if it is below a checkout.
[[nodiscard]] std::string commit() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  for (auto folder = self.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (!std::filesystem::exists(folder / ".git", error)) continue;
    std::string text = output_of(
        {"/usr/bin/git", "-C", folder.string(), "describe", "--always", "--dirty", "--abbrev=12"});
    while (text.ends_with('\n')) text.pop_back();
    return text.contains(' ') ? "" : text;  // A sentence is a complaint of git.
  }
  return {};
}

[[nodiscard]] Json machine() {
  utsname kernel{};
  uname(&kernel);
  return {{"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
          {"architecture", kernel.machine},
          {"cpu", value_of(read_file("/proc/cpuinfo"), "model name")},
          {"cores", std::thread::hardware_concurrency()},
          {"memory", value_of(read_file("/proc/meminfo"), "MemTotal")}};
}

}  // namespace

std::string utc_for_file_names() { return utc("%Y%m%d-%H%M%S"); }
std::string utc_iso8601() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

std::expected<ResultFiles, std::string> ResultFiles::create(const std::filesystem::path& folder,
                                                            std::string_view environment_json) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return std::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
  }
  const std::string base = "rps-ramp-" + utc_for_file_names();
  std::filesystem::path csv = folder / (base + ".csv");
  int file = -1;
  // Another probe may have begun in the same second.
  for (int number = 2; number < 100; ++number) {
    file = open(csv.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EEXIST) break;
    csv = folder / fmt::format("{}-{}.csv", base, number);
  }
  if (file < 0) return std::unexpected(system_error(csv));
  ResultFiles files(csv, net::FileDescriptor(file));
  const std::string header = std::string(csv_header()) + "\n";
  if (write(file, header.data(), header.size()) != static_cast<ssize_t>(header.size())) {
    return std::unexpected(system_error(csv));
  }
  std::filesystem::path environment = csv;
  environment.replace_filename(csv.stem().string() + "-environment.json");
  if (!write_file(environment, environment_json)) return std::unexpected(system_error(environment));
  std::filesystem::permissions(environment, std::filesystem::status(csv).permissions(), error);
  return files;
}

bool ResultFiles::append(const Row& row) {
  const std::string line = to_csv(row) + "\n";
  return write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

std::string environment_json(std::span<const std::string> command_line,
                             std::span<const UsedProduct> products,
                             std::span<const AbsentArm> absent) {
  Json root;
  root["command"] = fmt::format("{}", fmt::join(command_line, " "));
  root["time"] = utc_iso8601();
  root["titanium"] = version();
  root["commit"] = commit();
  root["machine"] = machine();
  root["products"] = Json::array();
  for (const UsedProduct& product : products) {
    root["products"].push_back({{"name", product.name},
                                {"version", product.version},
                                {"program", product.program},
                                {"flags", product.flags}});
  }
  root["arms"] = Json::array();
  for (const AbsentArm& entry : absent) {
    root["arms"].push_back({{"arm", entry.arm.name},
                            {"row_key", entry.arm.row_key},
                            {"product", product_row(entry.arm.product).name},
                            {"status", entry.status},
                            {"reason", entry.reason}});
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace titanium::probe
