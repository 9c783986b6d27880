// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace titanium::probe {

// A temporary folder, removed with everything in it at the end.
class ScratchFolder {
 public:
  [[nodiscard]] static std::expected<ScratchFolder, std::string> create();
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // Somebody has to look into it: it stays.
  void keep();

 private:
  explicit ScratchFolder(std::filesystem::path path);
  std::filesystem::path path_;
  bool kept_ = false;
};

// Removes the folders that exist and are not kept, for the end after a signal.
void remove_all_scratch_folders();

// Empty if it can not be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);
// False: errno says why. Readable by the owner only.
[[nodiscard]] bool write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace titanium::probe
