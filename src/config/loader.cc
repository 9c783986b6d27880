// SPDX-License-Identifier: MIT
#include "config/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "config/document.h"
#include "config/reader.h"
#include "config/report.h"
#include "config/section.h"

namespace titanium::config {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

std::expected<std::string, std::string> read_text(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return std::unexpected(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  char piece[64 * 1024];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get())) {
    text.append(piece, count);
    if (text.size() > kMaxFileBytes) return std::unexpected("is larger than 8 MiB");
  }
  if (std::ferror(file.get()) != 0) {
    return std::unexpected(fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  return text;
}

LoadOutcome failure(const std::string& file_name, std::string message) {
  return {.config = std::nullopt,
          .diagnostics = {{.severity = Severity::error,
                           .file = file_name,
                           .position = {},
                           .path = {},
                           .message = std::move(message),
                           .hint = {}}}};
}

std::filesystem::path folder_of(const std::string& file_name) {
  std::error_code error;
  auto path = std::filesystem::absolute(file_name, error);
  if (error) path = file_name;
  return path.lexically_normal().parent_path();
}

}  // namespace

bool LoadOutcome::has_warnings() const noexcept {
  return std::ranges::contains(diagnostics, Severity::warning, &Diagnostic::severity);
}

LoadOutcome load_file(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return failure(path, text.error());
  return load_text(*text, path);
}

LoadOutcome load_text(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxFileBytes) return failure(file_name, "is larger than 8 MiB");
  Report report(file_name);
  ParsedDocument document = parse_yaml(text);
  report.add(std::move(document.problems));

  LoadOutcome outcome;
  // Half a tree would give messages about what is missing in it.
  ReadContext context{.report = report, .base_folder = folder_of(file_name)};
  if (document.is_whole) outcome.config = read_config(context, document.root);
  if (report.has_errors()) outcome.config.reset();
  outcome.diagnostics = report.take();
  return outcome;
}

}  // namespace titanium::config
