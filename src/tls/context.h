// SPDX-License-Identifier: MIT
//
// TLS settings, built once and shared by all workers (immutable after construction; OpenSSL's own
// locks guard the rest). No OpenSSL type appears here: everything of OpenSSL stays in src/tls/*.cc.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace titanium::tls {

enum class TlsVersion : std::uint8_t { tls12, tls13 };

// A failure with words, for what is loaded at start-up: which file, and what OpenSSL says of it.
struct LoadError {
  std::string what;
};
template <typename T>
using LoadResult = std::expected<T, LoadError>;

// A certificate chain (leaf first) and the key of the leaf, both PEM.
struct KeyPairPem {
  std::string certificate_chain;
  std::string private_key;
};
// Reads PEM files, or one PKCS#12 file (.pfx, .p12; then key_path is empty).
[[nodiscard]] LoadResult<KeyPairPem> load_key_pair(const std::string& certificate_path,
                                                   const std::string& key_path,
                                                   const std::string& password);

// Handshake and resumption counters, all workers together.
struct Counters {
  std::atomic<std::uint64_t> handshakes{0};
  std::atomic<std::uint64_t> resumptions{0};  // Of the handshakes.
  std::atomic<std::uint64_t> failures{0};
};

struct ServerOptions {
  std::vector<KeyPairPem> key_pairs{};  // At least one. The first serves clients without SNI match.
  std::vector<std::string> alpn = {"http/1.1"};  // In our order of preference.
  TlsVersion minimum = TlsVersion::tls12;
  TlsVersion maximum = TlsVersion::tls13;
  // Ticket keys: made at random, replaced at this interval; older ones decrypt until
  // `kept_ticket_keys` newer ones exist.
  std::chrono::seconds ticket_rotation{12 * 3600};
  std::size_t kept_ticket_keys = 4;
  std::string key_log_path{};  // SSLKEYLOGFILE format; empty: none.
};

// What a listener needs to terminate TLS: the certificates by name, tickets, ALPN.
// X25519MLKEM768 is offered first, then X25519, P-256, P-384.
class ServerContext {
 public:
  [[nodiscard]] static LoadResult<std::shared_ptr<ServerContext>> create(
      const ServerOptions& options);
  ~ServerContext();

  [[nodiscard]] const Counters& counters() const noexcept;

  struct Impl;
  [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

 private:
  explicit ServerContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

struct ClientOptions {
  bool verify = true;            // Chain and host name. Off: ignoreServerCertificateErrors.
  std::string ca_path{};         // PEM bundle used instead of the system's store; empty: system.
  std::string ca_pem{};          // The same as text; used in addition to ca_path if both are set.
  KeyPairPem client_key_pair{};  // For origins that ask for a certificate; may be empty.
  std::vector<std::string> alpn = {"http/1.1"};
  TlsVersion minimum = TlsVersion::tls12;
  TlsVersion maximum = TlsVersion::tls13;
  std::size_t cached_sessions = 1024;  // For resumption, per context, by server name.
  std::string key_log_path{};
};

// What the origin leg of a cluster needs.
class ClientContext {
 public:
  [[nodiscard]] static LoadResult<std::shared_ptr<ClientContext>> create(
      const ClientOptions& options);
  ~ClientContext();

  [[nodiscard]] const Counters& counters() const noexcept;

  struct Impl;
  [[nodiscard]] Impl& impl() const noexcept { return *impl_; }

 private:
  explicit ClientContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace titanium::tls
