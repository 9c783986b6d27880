// SPDX-License-Identifier: MIT
//
// Makes X.509 certificates (RFC 5280). Internal to this layer and its tests.
#pragma once

#include <ctime>
#include <span>
#include <string>

#include "tls/context.h"
#include "tls/openssl_ptr.h"

namespace titanium::tls {

// A fresh ECDSA P-256 key.
[[nodiscard]] PrivateKey make_key();

struct Validity {
  std::time_t not_before = 0;
  std::time_t not_after = 0;
};

// A self-signed root that may sign leaves only.
[[nodiscard]] LoadResult<Certificate> make_root(EVP_PKEY* key, const std::string& common_name,
                                                Validity validity);

// A server certificate for DNS names, wildcards and IP literals. Refuses names that are neither.
[[nodiscard]] LoadResult<Certificate> make_leaf(EVP_PKEY* key, std::span<const std::string> names,
                                                Validity validity, X509* issuer,
                                                EVP_PKEY* issuer_key);

}  // namespace titanium::tls
