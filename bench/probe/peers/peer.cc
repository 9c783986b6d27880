// SPDX-License-Identifier: MIT
#include "peers/peer.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <ranges>

#include "peers/products.h"
#include "run/child_process.h"

namespace titanium::probe {
namespace {

[[nodiscard]] bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// PATH, and where servers are, which users' PATHs often lack.
[[nodiscard]] std::vector<std::filesystem::path> search_folders() {
  std::vector<std::filesystem::path> folders;
  const char* path = std::getenv("PATH");
  for (const auto part : std::views::split(std::string_view(path == nullptr ? "" : path), ':')) {
    if (!part.empty()) folders.emplace_back(std::string(part.begin(), part.end()));
  }
  for (const char* more : {"/usr/local/sbin", "/usr/sbin", "/sbin"}) folders.emplace_back(more);
  return folders;
}

// Where this program is: ours is built beside it, or one folder up in a build folder.
[[nodiscard]] std::string beside_the_probe(const Peer& peer) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  for (const auto& folder : {self.parent_path(), self.parent_path().parent_path()}) {
    for (const std::string_view name : peer.programs) {
      if (is_program(folder / name)) return (folder / name).string();
    }
  }
  return {};
}

}  // namespace

std::span<const Peer> peers() {
  static const std::vector<Peer> all = {
      titanium_peer(), nginx_peer(),   haproxy_peer(), envoy_peer(),   yarp_peer(),
      caddy_peer(),    nghttpx_peer(), apache_peer(),  varnish_peer(), h2o_peer()};
  return all;
}

const Peer* find_peer(Product product) {
  const auto peer = std::ranges::find(peers(), product, &Peer::product);
  return peer == peers().end() ? nullptr : &*peer;
}

std::string locate(const Peer& peer, const std::string& given) {
  if (!given.empty()) return is_program(given) ? given : std::string();
  if (peer.product == Product::titanium) {
    if (std::string path = beside_the_probe(peer); !path.empty()) return path;
  }
  for (const auto& folder : search_folders()) {
    for (const std::string_view name : peer.programs) {
      if (is_program(folder / name)) return (folder / name).string();
    }
  }
  return {};
}

std::string find_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_word = i == 0 || std::string_view(" /-v\t").contains(text[i - 1]);
    if (!is_digit(text[i]) || !begins_word) continue;
    const std::string_view rest = text.substr(i);
    const std::string_view word = rest.substr(0, rest.find_first_of(" ,;)\n\t"));
    if (word.contains('.')) return std::string(word);
  }
  return {};
}

PeerVersion ask_version(const Peer& peer, const std::string& program) {
  std::vector<std::string> command = {program};
  command.insert(command.end(), peer.version_arguments.begin(), peer.version_arguments.end());
  PeerVersion result{.version = {}, .details = output_of(command)};
  const std::size_t marker = result.details.find(peer.version_marker);
  if (marker != std::string::npos) {
    result.version = find_version(std::string_view(result.details).substr(marker));
  }
  return result;
}

}  // namespace titanium::probe
