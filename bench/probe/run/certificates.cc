// SPDX-License-Identifier: MIT
#include "run/certificates.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "run/scratch.h"
#include "tls/certificates/certificate_authority.h"

namespace titanium::probe {

std::expected<void, std::string> make_certificates(const std::filesystem::path& folder) {
  auto authority = tls::CertificateAuthority::open_or_create(folder.string());
  if (!authority) return std::unexpected(authority.error().what);
  const std::vector<std::string> names = {"localhost", "127.0.0.1"};
  auto leaf = authority->issue(names);
  if (!leaf) return std::unexpected(leaf.error().what);
  const std::pair<std::string_view, std::string> files[] = {
      {"leaf.pem", leaf->certificate_chain},
      {"leaf.key", leaf->private_key},
      {"leaf-and-key.pem", leaf->certificate_chain + leaf->private_key},
  };
  for (const auto& [name, text] : files) {
    if (write_file(folder / name, text)) continue;
    return std::unexpected(fmt::format("{}: {}", (folder / name).string(), std::strerror(errno)));
  }
  return {};
}

}  // namespace titanium::probe
