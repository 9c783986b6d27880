// SPDX-License-Identifier: MIT
//
// A connection until its handshake is over.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "net/address.h"
#include "tls/connection.h"

namespace titanium::tls {
namespace {

constexpr std::string_view kClearTextError = "clear-text HTTP on a TLS port";

// What somebody sees who typed http:// instead of https://.
constexpr std::string_view kClearTextAnswer =
    "HTTP/1.1 400 Bad Request\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 63\r\n"
    "Connection: close\r\n"
    "\r\n"
    "This port speaks TLS, the request came in clear. Use https://.\n";
static_assert(kClearTextAnswer.size() - (kClearTextAnswer.find("\r\n\r\n") + 4) == 63);

// Input of a clear-text client that is read before its connection is closed: closing with unread
// bytes would reset it, and the answer would be lost.
constexpr std::size_t kDiscardBytes = 64 * 1024;

// A TLS record never begins with a letter (RFC 8446 §5.1: content types are below 24).
bool is_clear_text_http(std::string_view start) {
  constexpr std::array<std::string_view, 10> kStarts = {"GET ",    "HEAD ",   "POST ",  "PUT ",
                                                        "DELETE ", "OPTIONS", "PATCH ", "CONNECT",
                                                        "TRACE ",  "PRI * "};
  return std::ranges::any_of(kStarts, [&](std::string_view known) {
    // OpenSSL gives up after five bytes at the latest.
    const std::size_t length = std::min(start.size(), known.size());
    return length >= 4 && start.substr(0, length) == known.substr(0, length);
  });
}

bool is_ip_address(const std::string& name) {
  return net::SocketAddress::parse(name, 0).has_value();
}

// The form that certificates use: no brackets around IPv6, no dot of the DNS root.
std::string_view bare_name(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) return name.substr(1, name.size() - 2);
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

std::string subject_of(X509* certificate) {
  if (certificate == nullptr) return "(no certificate)";
  const Bio bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr) std::abort();  // Out of memory.
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

}  // namespace

Connection::Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
                       SSL_CTX* context, Side peer, HandshakeHandler& handler)
    : loop_(loop),
      inner_(std::move(inner)),
      io_(pool, *inner_),
      plain_(pool),
      ssl_(SSL_new(context)),
      handshake_handler_(&handler),
      peer_(peer) {
  if (ssl_ == nullptr) std::abort();  // Out of memory.
  BIO* bio = io_.make_bio().release();
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), static_cast<SessionReceiver*>(this));
  io_.set_budget(kHandshakeBudgetBytes);
  inner_->set_handler(this);
  loop_.defer(*this);
}

Connection::Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
                       std::shared_ptr<const ServerContext> server, HandshakeHandler& handler)
    : Connection(loop, pool, std::move(inner), server->impl().contexts.front().get(), Side::client,
                 handler) {
  server_context_ = std::move(server);
  SSL_set_accept_state(ssl_.get());
}

Connection::Connection(net::EventLoop& loop, ChunkPool& pool, std::unique_ptr<net::Transport> inner,
                       std::shared_ptr<const ClientContext> client, std::string_view server_name,
                       HandshakeHandler& handler)
    : Connection(loop, pool, std::move(inner), client->impl().context.get(), Side::origin,
                 handler) {
  client_context_ = std::move(client);
  client_server_name_ = bare_name(server_name);
  prepare_client(client_server_name_);
}

void Connection::prepare_client(std::string_view server_name) {
  ClientContext::Impl& impl = client_context_->impl();
  SSL_set_connect_state(ssl_.get());
  check_names(client_server_name_);
  if (const SslSession session = impl.sessions.take(server_name)) {
    SSL_set_session(ssl_.get(), session.get());
  }
}

void Connection::check_names(const std::string& name) {
  const bool is_ip = is_ip_address(name);
  // RFC 6066 §3: SNI carries DNS names only.
  bool accepted = is_ip || name.empty() || SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
  if (client_context_->impl().verify) {
    X509_VERIFY_PARAM* rules = SSL_get0_param(ssl_.get());
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // An empty name would switch the check off; no certificate is for it.
    accepted = accepted && !name.empty() &&
               (is_ip ? X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1
                      : X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1);
  }
  clear_openssl_errors();
  if (accepted) return;
  error_ = Error{.code = Code::config,
                 .side = Side::self,
                 .what = "server name is empty or cannot be used for TLS"};
}

void Connection::continue_handshake() {
  if (state_ != State::handshaking || handshake_over_) return;
  if (error_) {  // From the preparation.
    handshake_over_ = true;
    return;
  }
  clear_openssl_errors();
  const int outcome = SSL_do_handshake(ssl_.get());
  loop_.defer(*this);  // To send what was made, and to report.
  if (outcome == 1) {
    finish_handshake();
    return;
  }
  const int ssl_error = SSL_get_error(ssl_.get(), outcome);
  const bool waits =
      ssl_error == SSL_ERROR_WANT_READ && !io_.error() && !io_.has_ended() && !io_.is_over_budget();
  if (!waits) fail_handshake(ssl_error);
}

void Connection::finish_handshake() {
  handshake_over_ = true;
  io_.set_budget(kControlBudgetBytes);
  Counters& counters = context_base().counters;
  counters.handshakes.fetch_add(1, std::memory_order_relaxed);
  if (!resumed()) return;
  counters.resumptions.fetch_add(1, std::memory_order_relaxed);
  // A TLS 1.2 server may have replaced the ticket, which OpenSSL does not report.
  if (client_context_ != nullptr && SSL_version(ssl_.get()) < TLS1_3_VERSION) {
    on_session(SslSession(SSL_get1_session(ssl_.get())));
  }
}

void Connection::fail_handshake(int ssl_error) {
  handshake_over_ = true;
  error_ = handshake_error(ssl_error);
  context_base().counters.failures.fetch_add(1, std::memory_order_relaxed);
}

Error Connection::handshake_error(int ssl_error) {
  if (server_context_ != nullptr && is_clear_text_http(io_.first_bytes())) {
    answer_clear_text();
    return {.code = Code::protocol, .side = peer_, .what = kClearTextError};
  }
  if (ssl_error != SSL_ERROR_WANT_READ) {
    std::string_view fallback = "TLS handshake failed";
    const long verified = SSL_get_verify_result(ssl_.get());
    const bool unverified =
        client_context_ != nullptr && client_context_->impl().verify && verified != X509_V_OK;
    Error error{.code = Code::protocol,
                .side = peer_,
                .native = static_cast<std::int32_t>(ERR_GET_REASON(ERR_peek_error())),
                .what = openssl_reason(fallback)};
    // OpenSSL's own words would be "certificate verify failed", whatever the reason.
    if (unverified) {
      error.code = Code::certificate;
      error.what = X509_verify_cert_error_string(verified);
    }
    if (!detail_.empty()) detail_ += "; ";
    detail_ += take_openssl_text();
    return error;
  }
  if (io_.is_over_budget()) {
    return {.code = Code::limit, .side = peer_, .what = "TLS handshake is too large"};
  }
  // Nothing of a request was sent, so another connection may try.
  Error error{.code = Code::closed,
              .side = peer_,
              .retry = Retry::always,
              .what = "connection closed during the TLS handshake"};
  if (io_.error()) {
    error.native = io_.error()->native;
    error.what = io_.error()->what;
  }
  return error;
}

void Connection::answer_clear_text() {
  io_.output().clear();  // OpenSSL's alert means nothing to an HTTP client.
  io_.output().append(kClearTextAnswer);
  io_.discard_input(kDiscardBytes);
  detail_ = "the client began with an HTTP request instead of a TLS record";
  clear_openssl_errors();
}

void Connection::report_handshake() {
  handshake_over_ = false;
  HandshakeHandler& handler = *std::exchange(handshake_handler_, nullptr);
  if (!error_) {
    state_ = State::open;
    if (writer_waits_) report_writable_ = true;
    if (handler_ != nullptr) report_readable_ = true;
    handler.on_handshake({});
    return;
  }
  // The alert (RFC 8446 §6.2) goes out first: the handler usually destroys this connection.
  state_ = State::failed;
  flush();
  if (io_.output().empty()) inner_->shutdown_write();
  handler.on_handshake(std::unexpected(*error_));
}

const ContextBase& Connection::context_base() const noexcept {
  if (server_context_ != nullptr) return server_context_->impl();
  return client_context_->impl();
}

void Connection::on_session(SslSession session) {
  client_context_->impl().sessions.put(client_server_name_, std::move(session));
}

void Connection::on_verify_failure(X509_STORE_CTX* store) {
  detail_ = "certificate of " + subject_of(X509_STORE_CTX_get_current_cert(store)) + " at depth " +
            std::to_string(X509_STORE_CTX_get_error_depth(store)) + ": " +
            X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
}

std::unique_ptr<TlsTransport> make_tls_server(net::EventLoop& loop, ChunkPool& pool,
                                              std::unique_ptr<net::Transport> inner,
                                              std::shared_ptr<const ServerContext> context,
                                              HandshakeHandler& handler) {
  return std::make_unique<Connection>(loop, pool, std::move(inner), std::move(context), handler);
}

std::unique_ptr<TlsTransport> make_tls_client(net::EventLoop& loop, ChunkPool& pool,
                                              std::unique_ptr<net::Transport> inner,
                                              std::shared_ptr<const ClientContext> context,
                                              std::string_view server_name,
                                              HandshakeHandler& handler) {
  return std::make_unique<Connection>(loop, pool, std::move(inner), std::move(context), server_name,
                                      handler);
}

}  // namespace titanium::tls
