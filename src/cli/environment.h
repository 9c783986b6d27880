// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/assembly.h"

namespace titanium::cli {

// What the environment adds to a configuration: the password of PKCS#12 files
// (TITANIUM_CERT_PASSWORD) and the TLS key log (SSLKEYLOGFILE). The only place that reads it.
[[nodiscard]] AssemblyInput input_from_environment(std::string file_name);

}  // namespace titanium::cli
