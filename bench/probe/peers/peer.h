// SPDX-License-Identifier: MIT
//
// A product under test: how it is configured for an arm, started, and asked for its version. One
// file per product. What is equal for all, so that the comparison is fair, is in PeerInput; each
// file's template says how its product is told so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arms/arm.h"
#include "arms/product.h"
#include "workload.h"

namespace titanium::probe {

// The same for every product of a row.
struct PeerInput {
  Wire client = Wire::http1;
  Wire origin = Wire::http1;
  std::uint16_t port = 0;  // To listen on, 127.0.0.1.
  std::uint16_t origin_port = 0;
  bool websocket = false;  // The arm upgrades its connections.
  bool grpc = false;
  std::filesystem::path folder;        // Of this arm, for the configuration and whatever else.
  std::filesystem::path certificates;  // root.pem, leaf.pem, leaf.key, leaf-and-key.pem
  unsigned workers = 2;                // Threads or processes: one per CPU, for all.
  // Idle connections to the origin that a worker keeps.
  std::uint32_t pool_connections = 128;
  bool pool_given = false;  // --max-cached-connections, and not the default.
};

// Connections that may wait to be accepted, for all products.
inline constexpr std::string_view kBackLog = "1024";
// The origin's name in its certificate, which everybody verifies; also the Host of requests.
inline constexpr std::string_view kServerName = "localhost";

struct ConfigFile {
  std::string name;  // In PeerInput::folder.
  std::string text;
};

struct Peer {
  Product product;
  std::string_view path_option;            // "--nginx-path"
  std::vector<std::string_view> programs;  // Names to look for in PATH and the sbin folders.
  std::vector<std::string> version_arguments;
  std::string_view version_marker;  // The line of the output that has it has the version.
  std::vector<ConfigFile> (*configure)(const PeerInput& input);
  // argv without the program.
  std::vector<std::string> (*arguments)(const PeerInput& input);
  // It can be told whom to trust by SSL_CERT_FILE only.
  bool roots_by_environment = false;
};

// All products that are programs of their own (no controls), ours included.
[[nodiscard]] std::span<const Peer> peers();
// Null for controls.
[[nodiscard]] const Peer* find_peer(Product product);

// Where the program is: `given` if not empty, else the first of peer.programs that is found.
// Empty: not installed.
[[nodiscard]] std::string locate(const Peer& peer, const std::string& given);

struct PeerVersion {
  std::string version;  // "1.26.3"
  std::string details;  // All the program says: build flags and libraries.
};
[[nodiscard]] PeerVersion ask_version(const Peer& peer, const std::string& program);

// The first word of `text` that begins with a digit, or with v and a digit: "nginx/1.26.3" and
// "HAProxy version 3.0.11-1 …" have theirs after a slash or a space.
[[nodiscard]] std::string find_version(std::string_view text);

}  // namespace titanium::probe
