// SPDX-License-Identifier: MIT
#include "tls/context_base.h"

#include <utility>

namespace titanium::tls {
namespace {

int wire_version(TlsVersion version) {
  return version == TlsVersion::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

void log_key(const SSL* ssl, const char* line) noexcept {
  const auto* base = static_cast<const ContextBase*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  base->key_log.write(line);
}

bool apply_common_settings(SSL_CTX* context, TlsVersion minimum, TlsVersion maximum) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Buffers of records exist only while a record is in them; a queue never refuses bytes, so
  // partial writes only mean that one call makes one record.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY |
                                // What the operator gave is sent, not searched for each time.
                                SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_max_cert_list(context, kMaxCertificateBytes);
  return SSL_CTX_set_min_proto_version(context, wire_version(minimum)) == 1 &&
         SSL_CTX_set_max_proto_version(context, wire_version(maximum)) == 1 &&
         SSL_CTX_set_cipher_list(context, kTls12Ciphers) == 1 &&
         SSL_CTX_set_ciphersuites(context, kTls13Ciphers) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1;
}

}  // namespace

std::unexpected<LoadError> load_failure(std::string_view doing) {
  return std::unexpected(LoadError{std::string(doing) + ": " + take_openssl_text()});
}

LoadResult<void> set_up(ContextBase& base, const std::vector<std::string>& alpn,
                        const std::string& key_log_path) {
  for (const std::string& name : alpn) {
    if (name.empty() || name.size() > 255) {
      return std::unexpected(LoadError{"ALPN protocol names have 1 to 255 bytes"});
    }
    base.alpn_wire += static_cast<char>(name.size());
    base.alpn_wire += name;
  }
  base.alpn = alpn;
  if (key_log_path.empty()) return {};
  return base.key_log.open(key_log_path);
}

LoadResult<SslContext> make_ssl_context(const SSL_METHOD* method, TlsVersion minimum,
                                        TlsVersion maximum, ContextBase& base) {
  ERR_clear_error();
  if (minimum > maximum) {
    return std::unexpected(LoadError{"the lowest TLS version is above the highest"});
  }
  SslContext context(SSL_CTX_new(method));
  if (context == nullptr) return load_failure("OpenSSL cannot make a context");
  if (!apply_common_settings(context.get(), minimum, maximum)) {
    return load_failure("OpenSSL refuses the TLS settings");
  }
  SSL_CTX_set_app_data(context.get(), &base);
  if (base.key_log.is_open()) SSL_CTX_set_keylog_callback(context.get(), log_key);
  return context;
}

LoadResult<void> use_key_pair(SSL_CTX* context, const KeyPair& pair) {
  ERR_clear_error();
  if (SSL_CTX_use_certificate(context, pair.chain.front().get()) != 1) {
    return load_failure("OpenSSL refuses the certificate");
  }
  for (std::size_t i = 1; i < pair.chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, pair.chain[i].get()) != 1) {
      return load_failure("OpenSSL refuses a certificate of the chain");
    }
  }
  if (SSL_CTX_use_PrivateKey(context, pair.key.get()) != 1) {
    return load_failure("OpenSSL refuses the private key");
  }
  return {};
}

}  // namespace titanium::tls
