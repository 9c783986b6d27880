// SPDX-License-Identifier: MIT
//
// How OpenSSL's objects are owned and its errors are read. Included by the .cc files of this layer
// and by internal headers only they include: no OpenSSL type shows in the layer's public headers.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace titanium::tls {

// Owns a C object through its free function. The function is part of the type, so the pointer
// stays one word wide and no call site has to know how the object dies.
template <auto Free>
struct CDelete {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using SslContext = std::unique_ptr<SSL_CTX, CDelete<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, CDelete<SSL_free>>;
using SslSession = std::unique_ptr<SSL_SESSION, CDelete<SSL_SESSION_free>>;
using Certificate = std::unique_ptr<X509, CDelete<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, CDelete<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, CDelete<BIO_free>>;
using BioMethod = std::unique_ptr<BIO_METHOD, CDelete<BIO_meth_free>>;
using Pkcs12 = std::unique_ptr<PKCS12, CDelete<PKCS12_free>>;
static_assert(sizeof(SslContext) == sizeof(void*));

// Turns OpenSSL's per-thread error queue into one Error and empties the queue.
//
// SSL_get_error(3) wants the queue empty before each I/O call: it inspects the queue, so an entry
// left behind by one connection would be reported as the failure of the next one on this thread.
[[nodiscard]] Error take_openssl_error(Code code, Side side, std::string_view fallback);

// Makes sure that the queue is empty. Looking costs less than clearing, which writes all its slots.
inline void clear_openssl_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// OpenSSL's words for the oldest entry of the queue ("certificate has expired"), or `fallback` if
// it has none. The text is static. Leaves the queue as it is.
[[nodiscard]] std::string_view openssl_reason(std::string_view fallback);

// Every entry of the queue, oldest first, joined by "; ". Empties the queue.
[[nodiscard]] std::string take_openssl_text();

}  // namespace titanium::tls
