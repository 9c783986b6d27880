// SPDX-License-Identifier: MIT
//
// The public class titanium::Proxy over the same parts that `titanium run` is made of.
#include <fmt/format.h>

#include <utility>

#include "cli/environment.h"
#include "cli/instance.h"
#include "cli/log/logging.h"
#include "cli/signals.h"
#include "config/loader.h"
#include "titanium/proxy.h"

namespace titanium {
namespace {

[[nodiscard]] Diagnostic to_public(const config::Diagnostic& from) {
  return {.is_error = from.severity == config::Severity::error,
          .file = from.file,
          .line = from.position.line,
          .column = from.position.column,
          .key = from.path,
          .message = from.message,
          .hint = from.hint};
}

[[nodiscard]] Diagnostics to_public(const std::vector<config::Diagnostic>& from) {
  Diagnostics diagnostics;
  for (const config::Diagnostic& diagnostic : from) diagnostics.push_back(to_public(diagnostic));
  return diagnostics;
}

[[nodiscard]] std::unexpected<Diagnostics> failure(const std::string& file, std::string message) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.message = std::move(message);
  return std::unexpected(Diagnostics{std::move(diagnostic)});
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  return config::format_diagnostic(
      {.severity = diagnostic.is_error ? config::Severity::error : config::Severity::warning,
       .file = diagnostic.file,
       .position = {.line = diagnostic.line, .column = diagnostic.column},
       .path = diagnostic.key,
       .message = diagnostic.message,
       .hint = diagnostic.hint});
}

struct Proxy::Impl {
  std::string name;
  config::Config config;
  Diagnostics warnings;
  std::vector<std::string> no_addresses;
  std::unique_ptr<cli::Log> log;  // Outlives the instance.
  std::unique_ptr<cli::Instance> instance;

  [[nodiscard]] static std::expected<std::unique_ptr<Impl>, Diagnostics> make(
      config::LoadOutcome outcome, const std::string& name) {
    if (outcome.has_errors()) return std::unexpected(to_public(outcome.diagnostics));
    auto impl = std::make_unique<Impl>();
    impl->name = name;
    impl->config = std::move(*outcome.config);
    impl->warnings = to_public(outcome.diagnostics);
    return impl;
  }
};

std::expected<Proxy, Diagnostics> Proxy::from_file(const std::string& path) {
  auto impl = Impl::make(config::load_file(path), path);
  if (!impl) return std::unexpected(std::move(impl.error()));
  return Proxy(std::move(*impl));
}

std::expected<Proxy, Diagnostics> Proxy::from_text(std::string_view yaml, const std::string& name) {
  auto impl = Impl::make(config::load_text(yaml, name), name);
  if (!impl) return std::unexpected(std::move(impl.error()));
  return Proxy(std::move(*impl));
}

Proxy::Proxy(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Proxy::Proxy(Proxy&& other) noexcept = default;
Proxy& Proxy::operator=(Proxy&& other) noexcept = default;
Proxy::~Proxy() = default;

const Diagnostics& Proxy::warnings() const noexcept { return impl_->warnings; }

std::expected<void, Diagnostics> Proxy::start() {
  if (impl_->instance != nullptr) return failure(impl_->name, "the proxy was started already");
  const config::Config& config = impl_->config;
  // A library is silent unless told otherwise.
  config::Logging silent;
  silent.enabled = false;
  auto log = cli::Log::open(config.logging ? &*config.logging : &silent, false);
  if (!log) return failure(impl_->name, std::move(log.error()));
  const cli::SignalsBlocked inherited_by_the_workers;
  auto instance =
      cli::Instance::start(config, cli::input_from_environment(impl_->name), (*log)->logger());
  if (!instance) return std::unexpected(to_public(instance.error()));
  impl_->log = std::move(*log);
  impl_->instance = std::move(*instance);
  return {};
}

const std::vector<std::string>& Proxy::addresses() const noexcept {
  return impl_->instance == nullptr ? impl_->no_addresses : impl_->instance->urls();
}

bool Proxy::drain() {
  if (impl_->instance == nullptr) return false;
  return !impl_->instance->drain();
}

void Proxy::stop() noexcept {
  if (impl_->instance != nullptr) impl_->instance->stop();
}

}  // namespace titanium
