// SPDX-License-Identifier: MIT
//
// PEM and PKCS#12 to OpenSSL objects and back. Start-up only; errors are sentences for the operator
// without the file name, which the caller knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/context.h"
#include "tls/openssl_ptr.h"

namespace titanium::tls {

struct KeyPair {
  std::vector<Certificate> chain;  // Leaf first, never empty.
  PrivateKey key;                  // Fits the leaf.
};

// A certificate or key file larger than this is a mistake.
inline constexpr std::size_t kMaxPemFileBytes = 4 * 1024 * 1024;

[[nodiscard]] LoadResult<std::string> read_file(const std::string& path);

// All certificates of the text, at least one.
[[nodiscard]] LoadResult<std::vector<Certificate>> parse_certificates(std::string_view pem);
[[nodiscard]] LoadResult<PrivateKey> parse_private_key(std::string_view pem,
                                                       const std::string& password);
// Both, and whether they belong together.
[[nodiscard]] LoadResult<KeyPair> parse_key_pair(const KeyPairPem& pem);
[[nodiscard]] LoadResult<KeyPair> parse_pkcs12(std::string_view der, const std::string& password);

[[nodiscard]] std::string to_pem(const X509* certificate);
[[nodiscard]] std::string to_pem(const EVP_PKEY* key);
[[nodiscard]] KeyPairPem to_pem(const KeyPair& pair);

// The names that a certificate is for, lower-cased: DNS names (wildcards too) of its
// subjectAltName; its common name if it has no subjectAltName.
[[nodiscard]] std::vector<std::string> dns_names(const X509* certificate);

}  // namespace titanium::tls
