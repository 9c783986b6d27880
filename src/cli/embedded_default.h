// SPDX-License-Identifier: MIT
//
// What `titanium run` does without a file: something that works at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/diagnostic.h"
#include "net/address.h"

namespace titanium::cli {

// A clear and a TLS listener on 127.0.0.1, both in front of `origin`.
[[nodiscard]] config::Config embedded_config(std::uint16_t port, std::uint16_t tls_port,
                                             const net::SocketAddress& origin);

// Where the CA lies, and commands that can be pasted into a shell. `urls` are those of the two
// listeners.
[[nodiscard]] std::vector<std::string> embedded_hints(const std::vector<std::string>& urls,
                                                      const std::string& root_certificate_path);

// Problems of the embedded default name an option where those of a file name a line.
[[nodiscard]] std::string describe_embedded_problem(const config::Diagnostic& problem);

// `text` as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace titanium::cli
