// SPDX-License-Identifier: MIT
#include "tls/server_context.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "tls/certificates/pem.h"

namespace titanium::tls {
namespace {

// Longest DNS name as text (RFC 1035 §2.3.4).
constexpr std::size_t kMaxNameBytes = 253;

// The same for all contexts, so that a session opens with whichever certificate is chosen.
constexpr std::string_view kSessionIdContext = "titanium";

int choose_certificate(SSL* ssl, int* /*alert*/, void* user_data) noexcept {
  const auto& impl = *static_cast<const ServerContext::Impl*>(user_data);
  const char* asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (asked == nullptr) return SSL_TLSEXT_ERR_NOACK;
  const std::string_view name(asked);
  if (name.size() > kMaxNameBytes) return SSL_TLSEXT_ERR_NOACK;
  std::array<char, kMaxNameBytes> lower;
  std::ranges::transform(name, lower.begin(), to_lower);
  SSL_CTX* context = impl.find({lower.data(), name.size()});
  if (context != SSL_get_SSL_CTX(ssl)) SSL_set_SSL_CTX(ssl, context);
  return SSL_TLSEXT_ERR_OK;
}

int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                    const unsigned char* offered, unsigned int offered_length,
                    void* user_data) noexcept {
  const auto& impl = *static_cast<const ServerContext::Impl*>(user_data);
  if (impl.alpn.empty()) return SSL_TLSEXT_ERR_NOACK;
  unsigned char* chosen = nullptr;
  // The first list is the one whose order counts. RFC 7301 §3.2: no overlap ends the handshake.
  const int outcome = SSL_select_next_proto(
      &chosen, out_length, reinterpret_cast<const unsigned char*>(impl.alpn_wire.data()),
      static_cast<unsigned int>(impl.alpn_wire.size()), offered, offered_length);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int handle_ticket(SSL* ssl, unsigned char* key_name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                  EVP_MAC_CTX* mac, int sealing) noexcept {
  auto* base = static_cast<ContextBase*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  auto& impl = static_cast<ServerContext::Impl&>(*base);
  const std::span<unsigned char, 16> name(key_name, 16);
  if (sealing != 0) return impl.tickets.seal(name, iv, cipher, mac) ? 1 : -1;
  switch (impl.tickets.open(name, iv, cipher, mac)) {
    case TicketKeys::Opened::failed:
      return -1;
    case TicketKeys::Opened::unknown_key:
      return 0;  // A full handshake.
    case TicketKeys::Opened::current_key:
      // TLS 1.3 tickets are used once (RFC 8446 §C.4), so the client needs a new one: 2.
      return SSL_version(ssl) >= TLS1_3_VERSION ? 2 : 1;
    case TicketKeys::Opened::older_key:
      break;
  }
  return 2;
}

LoadResult<SslContext> make_context(const KeyPair& pair, const ServerOptions& options,
                                    ServerContext::Impl& impl) {
  auto made = make_ssl_context(TLS_server_method(), options.minimum, options.maximum, impl);
  if (!made) return made;
  SSL_CTX* context = made->get();
  if (auto used = use_key_pair(context, pair); !used) return std::unexpected(used.error());
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // Sessions live in tickets only: nothing to share between workers, nothing to bound.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 2);  // OpenSSL sends one after a resumption.
  SSL_CTX_set_session_id_context(context,
                                 reinterpret_cast<const unsigned char*>(kSessionIdContext.data()),
                                 static_cast<unsigned int>(kSessionIdContext.size()));
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, handle_ticket);
  SSL_CTX_set_tlsext_servername_callback(context, choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(context, &impl);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, &impl);
  return made;
}

}  // namespace

SSL_CTX* ServerContext::Impl::find(std::string_view name) const {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const auto exact = by_name.find(name); exact != by_name.end()) return exact->second;
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos && dot > 0) {
    std::array<char, kMaxNameBytes + 1> wildcard;
    const std::string_view rest = name.substr(dot);
    wildcard[0] = '*';
    std::ranges::copy(rest, wildcard.begin() + 1);
    const auto found = by_name.find(std::string_view(wildcard.data(), rest.size() + 1));
    if (found != by_name.end()) return found->second;
  }
  return contexts.front().get();
}

ServerContext::ServerContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerContext::~ServerContext() = default;

const Counters& ServerContext::counters() const noexcept { return impl_->counters; }

LoadResult<std::shared_ptr<ServerContext>> ServerContext::create(const ServerOptions& options) {
  if (options.key_pairs.empty()) {
    return std::unexpected(LoadError{"a TLS server needs a certificate"});
  }
  auto impl = std::make_unique<Impl>(options);
  if (auto ready = set_up(*impl, options.alpn, options.key_log_path); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  for (const KeyPairPem& pem : options.key_pairs) {
    auto pair = parse_key_pair(pem);
    if (!pair) return std::unexpected(std::move(pair.error()));
    auto context = make_context(*pair, options, *impl);
    if (!context) return std::unexpected(std::move(context.error()));
    // The first certificate for a name wins, as the first one is also the default.
    for (std::string& name : dns_names(pair->chain.front().get())) {
      impl->by_name.try_emplace(std::move(name), context->get());
    }
    impl->contexts.push_back(std::move(*context));
  }
  return std::shared_ptr<ServerContext>(new ServerContext(std::move(impl)));
}

}  // namespace titanium::tls
