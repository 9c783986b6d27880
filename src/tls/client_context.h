// SPDX-License-Identifier: MIT
//
// The inside of ClientContext, with OpenSSL types; only .cc files of this layer (and its tests)
// include it.
#pragma once

#include "tls/context_base.h"
#include "tls/session_cache.h"

namespace titanium::tls {

struct ClientContext::Impl : ContextBase {
  explicit Impl(const ClientOptions& options) : sessions(options.cached_sessions) {}

  SessionCache sessions;
  SslContext context;
  bool verify = true;
};

// Called by OpenSSL through the context when a server sent a session; connections of this layer
// have a SessionReceiver as app data.
class SessionReceiver {
 public:
  virtual void on_session(SslSession session) = 0;
  // One step of the chain check failed; OpenSSL reports the first one that cannot be passed.
  virtual void on_verify_failure(X509_STORE_CTX* store) = 0;

 protected:
  ~SessionReceiver() = default;
};

}  // namespace titanium::tls
