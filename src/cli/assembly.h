// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/diagnostic.h"
#include "proxy/options.h"

namespace titanium::cli {

struct AssemblyInput {
  std::string file_name;  // For messages.
  // False: only checks. Then no certificate is minted, and nothing is written.
  bool may_create_files = true;
  std::string certificate_password;  // Of PKCS#12 files.
  std::string key_log_path;          // Where the configuration names none; empty: no key log.
  // Where our own CA lives; empty: the folder of the user.
  std::string certificate_folder;
};

struct Assembly {
  proxy::ServerOptions options;   // Without logger and observer.
  std::vector<std::string> urls;  // Of each listener, without the port: "https://127.0.0.1:".
  // The root of our own CA, if a listener has a certificate from it; else empty.
  std::string root_certificate_path;
};

// Turns a configuration into what a server needs: loads certificates and keys, resolves clusters to
// endpoints. All that is wrong is reported together.
[[nodiscard]] std::expected<Assembly, std::vector<config::Diagnostic>> assemble(
    const config::Config& config, const AssemblyInput& input);

}  // namespace titanium::cli
