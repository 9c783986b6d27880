// SPDX-License-Identifier: MIT
//
// What server and client contexts share, with OpenSSL types; only .cc files of this layer include
// it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tls/certificates/pem.h"
#include "tls/context.h"
#include "tls/key_log.h"
#include "tls/openssl_ptr.h"

namespace titanium::tls {

// Hybrid first (post-quantum), then what everybody speaks. `*` sends a key share for both at once,
// so that no kind of server costs a round trip. The slash makes two tuples: a server takes the
// hybrid group if the client knows it, else whichever of the others came with a key share.
inline constexpr const char* kGroups = "*X25519MLKEM768/*X25519:P-256:P-384";

// TLS 1.2 with forward secrecy and AEAD only (RFC 9325 §4.2).
inline constexpr const char* kTls12Ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
inline constexpr const char* kTls13Ciphers =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

// What a peer may send us as certificates, in bytes.
inline constexpr long kMaxCertificateBytes = 100 * 1024;

struct ContextBase {
  mutable Counters counters;
  KeyLog key_log;
  std::vector<std::string> alpn;
  std::string alpn_wire;  // RFC 7301 §3.1: each name with its length in front.
};

// Checks names and lengths, fills alpn and alpn_wire and opens the key log.
[[nodiscard]] LoadResult<void> set_up(ContextBase& base, const std::vector<std::string>& alpn,
                                      const std::string& key_log_path);

// An SSL_CTX with the settings that do not differ between server and client. `base` outlives it.
[[nodiscard]] LoadResult<SslContext> make_ssl_context(const SSL_METHOD* method, TlsVersion minimum,
                                                      TlsVersion maximum, ContextBase& base);

[[nodiscard]] LoadResult<void> use_key_pair(SSL_CTX* context, const KeyPair& pair);

// The OpenSSL error queue as LoadError, e.g. after a setter failed.
[[nodiscard]] std::unexpected<LoadError> load_failure(std::string_view doing);

}  // namespace titanium::tls
