// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <utility>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "config/loader.h"

namespace titanium::cli {

int test(const TestRequest& request) {
  const config::LoadOutcome outcome = config::load_file(request.config_path);
  print_diagnostics(outcome.diagnostics);
  if (outcome.has_errors()) return kExitFailed;

  AssemblyInput input = input_from_environment(request.config_path);
  input.may_create_files = false;
  const auto assembly = assemble(*outcome.config, input);
  if (!assembly) {
    print_diagnostics(assembly.error());
    return kExitFailed;
  }
  if (request.strict && outcome.has_warnings()) {
    print_note(
        fmt::format("{} has warnings, which --strict turns into a failure", request.config_path));
    return kExitFailed;
  }
  const config::Config& config = *outcome.config;
  const bool printed = print_line(fmt::format("{}: ok ({} listeners, {} routes, {} clusters)",
                                              request.config_path, config.listeners.size(),
                                              config.routes.size(), config.clusters.size()));
  return printed ? kExitClean : kExitFailed;
}

}  // namespace titanium::cli
