// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace titanium::probe {

// Names the folder for the children.
inline constexpr const char* kCertificatesVariable = "TWP_RPS_CERT_DIR";

// Makes a loopback authority and one leaf of it in `folder`, for origins and products alike:
// root.pem, leaf.pem, leaf.key, and both of the leaf in leaf-and-key.pem, as HAProxy wants it.
// ECDSA P-256, for localhost and 127.0.0.1.
[[nodiscard]] std::expected<void, std::string> make_certificates(
    const std::filesystem::path& folder);

}  // namespace titanium::probe
