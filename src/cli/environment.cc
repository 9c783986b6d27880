// SPDX-License-Identifier: MIT
#include "cli/environment.h"

#include <cstdlib>
#include <utility>

namespace titanium::cli {
namespace {

[[nodiscard]] std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

AssemblyInput input_from_environment(std::string file_name) {
  AssemblyInput input;
  input.file_name = std::move(file_name);
  input.certificate_password = variable("TITANIUM_CERT_PASSWORD");
  input.key_log_path = variable("SSLKEYLOGFILE");
  return input;
}

}  // namespace titanium::cli
