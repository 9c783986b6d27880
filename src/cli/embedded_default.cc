// SPDX-License-Identifier: MIT
#include "cli/embedded_default.h"

#include <fmt/format.h>

namespace titanium::cli {

config::Config embedded_config(std::uint16_t port, std::uint16_t tls_port,
                               const net::SocketAddress& origin) {
  config::Config config;
  for (const bool is_tls : {false, true}) {
    config::Listener listener;
    listener.host = "127.0.0.1";
    listener.port = is_tls ? tls_port : port;
    listener.decrypt_ssl = is_tls;
    listener.forward_host = origin.ip();
    listener.forward_port = origin.port();
    config.listeners.push_back(std::move(listener));
  }
  return config;
}

std::vector<std::string> embedded_hints(const std::vector<std::string>& urls,
                                        const std::string& root_certificate_path) {
  return {
      fmt::format("certificates come from our own CA: {}", root_certificate_path),
      "try:",
      fmt::format("  curl {}/", urls.at(0)),
      fmt::format("  curl -d 'hello, proxy' {}/echo", urls.at(0)),
      fmt::format("  curl --cacert {} {}/", shell_word(root_certificate_path), urls.at(1)),
  };
}

std::string describe_embedded_problem(const config::Diagnostic& problem) {
  std::string text = problem.message;
  if (!problem.hint.empty()) text += "; " + problem.hint;
  if (problem.path == "listeners[0].port") text += "; choose another one with --port N";
  if (problem.path == "listeners[1].port") text += "; choose another one with --tls-port N";
  return text;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%=";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace titanium::cli
