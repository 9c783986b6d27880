// SPDX-License-Identifier: MIT
#include "tls/client_context.h"

#include <utility>

#include "tls/certificates/pem.h"

namespace titanium::tls {
namespace {

SessionReceiver* receiver_of(const SSL* ssl) noexcept {
  return static_cast<SessionReceiver*>(SSL_get_app_data(ssl));
}

int on_new_session(SSL* ssl, SSL_SESSION* session) noexcept {
  SessionReceiver* receiver = receiver_of(ssl);
  if (receiver == nullptr) return 0;
  receiver->on_session(SslSession(session));
  return 1;  // The reference is ours now.
}

int on_verify(int ok, X509_STORE_CTX* store) noexcept {
  if (ok == 1) return 1;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (SessionReceiver* receiver = receiver_of(ssl)) receiver->on_verify_failure(store);
  return ok;
}

LoadResult<void> trust(X509_STORE* store, std::string_view pem, std::string_view source) {
  auto certificates = parse_certificates(pem);
  if (!certificates) {
    return std::unexpected(LoadError{std::string(source) + ": " + certificates.error().what});
  }
  for (const Certificate& certificate : *certificates) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1) {
      return load_failure(std::string(source) + ": OpenSSL refuses a certificate");
    }
  }
  return {};
}

LoadResult<void> set_trust(SSL_CTX* context, const ClientOptions& options) {
  if (options.ca_path.empty() && options.ca_pem.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return load_failure("the system's certificate store cannot be used");
  }
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  // Whoever names a certificate trusts it, also if it is an intermediate or the leaf itself.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  if (!options.ca_path.empty()) {
    auto pem = read_file(options.ca_path);
    if (!pem) return std::unexpected(LoadError{options.ca_path + ": " + pem.error().what});
    if (auto done = trust(store, *pem, options.ca_path); !done) return done;
  }
  if (options.ca_pem.empty()) return {};
  return trust(store, options.ca_pem, "CA certificates");
}

LoadResult<void> set_identity(SSL_CTX* context, const KeyPairPem& pem) {
  if (pem.certificate_chain.empty() && pem.private_key.empty()) return {};
  auto pair = parse_key_pair(pem);
  if (!pair) return std::unexpected(LoadError{"client certificate: " + pair.error().what});
  return use_key_pair(context, *pair);
}

LoadResult<void> configure(ClientContext::Impl& impl, const ClientOptions& options) {
  SSL_CTX* context = impl.context.get();
  impl.verify = options.verify;
  SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     options.verify ? on_verify : nullptr);
  if (options.verify) {
    if (auto done = set_trust(context, options); !done) return done;
  }
  if (auto done = set_identity(context, options.client_key_pair); !done) return done;
  // Returns 0 for success, unlike its neighbours. Without names, no ALPN is offered.
  if (!impl.alpn_wire.empty() &&
      SSL_CTX_set_alpn_protos(context,
                              reinterpret_cast<const unsigned char*>(impl.alpn_wire.data()),
                              static_cast<unsigned int>(impl.alpn_wire.size())) != 0) {
    return load_failure("OpenSSL refuses the ALPN protocols");
  }
  if (options.cached_sessions > 0) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_new_session);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
  return {};
}

}  // namespace

ClientContext::ClientContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientContext::~ClientContext() = default;

const Counters& ClientContext::counters() const noexcept { return impl_->counters; }

LoadResult<std::shared_ptr<ClientContext>> ClientContext::create(const ClientOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (auto ready = set_up(*impl, options.alpn, options.key_log_path); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  auto context = make_ssl_context(TLS_client_method(), options.minimum, options.maximum, *impl);
  if (!context) return std::unexpected(std::move(context.error()));
  impl->context = std::move(*context);
  if (auto done = configure(*impl, options); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return std::shared_ptr<ClientContext>(new ClientContext(std::move(impl)));
}

}  // namespace titanium::tls
