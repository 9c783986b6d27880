// SPDX-License-Identifier: MIT
#include "run/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>

namespace titanium::probe {
namespace {

struct Folders {
  std::mutex mutex;
  std::set<std::filesystem::path> paths;
};
[[nodiscard]] Folders& folders() {
  static Folders instance;
  return instance;
}

}  // namespace

std::expected<ScratchFolder, std::string> ScratchFolder::create() {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string name = (base / "rps-load-probe-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return std::unexpected(fmt::format("{}: {}", name, std::strerror(errno)));
  }
  return ScratchFolder(std::filesystem::path(name));
}

ScratchFolder::ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {
  const std::scoped_lock lock(folders().mutex);
  folders().paths.insert(path_);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  const std::scoped_lock lock(folders().mutex);
  folders().paths.erase(path_);
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

void ScratchFolder::keep() {
  const std::scoped_lock lock(folders().mutex);
  folders().paths.erase(path_);
  kept_ = true;
}

void remove_all_scratch_folders() {
  const std::scoped_lock lock(folders().mutex);
  for (const auto& path : folders().paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_file(const std::filesystem::path& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return close(file) == 0 && text.empty();
}

}  // namespace titanium::probe
