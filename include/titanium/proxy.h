// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace titanium {

/// Something that is wrong with a configuration, or that keeps a proxy from starting.
struct Diagnostic {
  bool is_error = true;  ///< False: a warning, e.g. an unknown key.
  std::string file;      ///< As given to from_file() or from_text().
  int line = 0;          ///< From 1; 0 if there is no place in the file.
  int column = 0;        ///< From 1; 0 if there is no place in the file.
  std::string key;       ///< "listeners[0].port"; may be empty.
  std::string message;   ///< What is wrong, in words for the operator.
  std::string hint;      ///< What to do about it; may be empty.
};
using Diagnostics = std::vector<Diagnostic>;

/// "twp.yaml:12:5: error: listeners[0].port: 70000 is out of range", one line without line feed.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// An HTTP reverse proxy within your program, configured as `titanium run` is.
///
/// Threads: methods may be called from any one thread at a time; stop() may also be called while
///          another thread is in drain(). Workers run on threads of the proxy's own, with all
///          signals blocked. SIGPIPE has to be ignored by the program.
/// Memory:  about 5 MiB per worker and what connections need; bounded by the limits of the
///          configuration.
class Proxy {
 public:
  /// Reads and checks a configuration. Opens no socket and starts no thread.
  ///
  /// @errors all problems of the file, and those of the files it names.
  [[nodiscard]] static std::expected<Proxy, Diagnostics> from_file(const std::string& path);

  /// The same for YAML text. `name` is for messages, and relative paths in the text start from its
  /// folder.
  [[nodiscard]] static std::expected<Proxy, Diagnostics> from_text(
      std::string_view yaml, const std::string& name = "twp.yaml");

  Proxy(Proxy&& other) noexcept;
  Proxy& operator=(Proxy&& other) noexcept;
  /// Stops at once if still running, and waits until all threads have ended.
  ~Proxy();

  /// Warnings of the configuration.
  [[nodiscard]] const Diagnostics& warnings() const noexcept;

  /// Opens all listeners and starts the workers. When it returns, connections are accepted.
  ///
  /// @errors certificates that cannot be used, files that cannot be opened, ports that are taken.
  ///         Nothing listens then, and start() may be called again. A proxy runs once: starting it
  ///         a second time, even after stop(), is an error.
  /// @cost   milliseconds; with a certificate of its own (decryptSsl without certificates) more.
  [[nodiscard]] std::expected<void, Diagnostics> start();

  /// "http://127.0.0.1:8080" of each listener, in the order of the configuration, with the real
  /// port where the configuration says 0. Empty before start(), unchanged afterwards.
  [[nodiscard]] const std::vector<std::string>& addresses() const noexcept;

  /// Accepts no more connections, closes idle ones and lets exchanges finish.
  ///
  /// Returns when all are over, at the latest after server.timeouts.drainTimeoutSeconds.
  /// @returns true if all exchanges ended by themselves; false if some were cut short, or if the
  ///          proxy was not running.
  bool drain();

  /// Ends everything at once. Nothing happens if the proxy is not running.
  void stop() noexcept;

 private:
  struct Impl;
  explicit Proxy(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium
