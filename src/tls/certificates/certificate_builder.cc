// SPDX-License-Identifier: MIT
#include "tls/certificates/certificate_builder.h"

#include <arpa/inet.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace titanium::tls {
namespace {

// Upper bound of commonName (RFC 5280 appendix A.1, ub-common-name).
constexpr std::size_t kMaxCommonNameBytes = 64;
constexpr std::size_t kMaxDnsNameBytes = 253;
constexpr std::size_t kSerialBytes = 16;

using Extension = std::unique_ptr<X509_EXTENSION, CDelete<X509_EXTENSION_free>>;
using Octets = std::unique_ptr<ASN1_OCTET_STRING, CDelete<ASN1_OCTET_STRING_free>>;
using Ia5String = std::unique_ptr<ASN1_IA5STRING, CDelete<ASN1_IA5STRING_free>>;
using BigNumber = std::unique_ptr<BIGNUM, CDelete<BN_free>>;
struct FreeNames {
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};
using Names = std::unique_ptr<GENERAL_NAMES, FreeNames>;

std::unexpected<LoadError> refuse_name(const std::string& name) {
  return std::unexpected(
      LoadError{"\"" + name + "\" is neither a DNS name nor an IP address for a certificate"});
}

bool is_dns_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_dns_name(std::string_view name) {
  if (name.starts_with("*.")) name.remove_prefix(2);
  return !name.empty() && name.size() <= kMaxDnsNameBytes && !name.starts_with('.') &&
         !name.ends_with('.') && name.find("..") == std::string_view::npos &&
         std::ranges::all_of(name, is_dns_character);
}

// Takes over `value` in any case.
template <typename T>
bool add_name(GENERAL_NAMES* names, int type, T value) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  if (name == nullptr || value == nullptr) std::abort();  // Out of memory.
  GENERAL_NAME_set0_value(name, type, value.release());
  return sk_GENERAL_NAME_push(names, name) > 0;
}

bool add_alternative(GENERAL_NAMES* names, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  int length = 0;
  if (inet_pton(AF_INET, text.c_str(), address.data()) == 1) length = sizeof(in_addr);
  if (length == 0 && inet_pton(AF_INET6, text.c_str(), address.data()) == 1) {
    length = sizeof(in6_addr);
  }
  if (length > 0) {
    Octets octets(ASN1_OCTET_STRING_new());
    ASN1_OCTET_STRING_set(octets.get(), address.data(), length);
    return add_name(names, GEN_IPADD, std::move(octets));
  }
  if (!is_dns_name(text)) return false;
  Ia5String dns(ASN1_IA5STRING_new());
  ASN1_STRING_set(dns.get(), text.data(), static_cast<int>(text.size()));
  return add_name(names, GEN_DNS, std::move(dns));
}

// An extension in the form of openssl.cnf, e.g. "critical,CA:TRUE". Our own constants only.
bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return false;
  // Positive, never zero, and always of the same length (RFC 5280 §4.1.2.2).
  random[0] = static_cast<unsigned char>((random[0] & 0x7f) | 0x40);
  const BigNumber number(BN_bin2bn(random.data(), static_cast<int>(random.size()), nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_common_name(X509* certificate, const std::string& name) {
  if (name.size() > kMaxCommonNameBytes) return true;  // The alternative names say it.
  return X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

Certificate start_certificate(EVP_PKEY* key, const std::string& common_name, Validity validity) {
  Certificate certificate(X509_new());
  if (certificate == nullptr) return nullptr;
  X509* raw = certificate.get();
  const bool filled = X509_set_version(raw, X509_VERSION_3) == 1 && set_random_serial(raw) &&
                      ASN1_TIME_set(X509_getm_notBefore(raw), validity.not_before) != nullptr &&
                      ASN1_TIME_set(X509_getm_notAfter(raw), validity.not_after) != nullptr &&
                      set_common_name(raw, common_name) && X509_set_pubkey(raw, key) == 1;
  return filled ? std::move(certificate) : nullptr;
}

std::unexpected<LoadError> openssl_failure() {
  return std::unexpected(LoadError{"cannot make a certificate: " + take_openssl_text()});
}

bool add_root_extensions(X509* root) {
  return add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
         add_extension(root, root, NID_key_usage, "critical,keyCertSign,cRLSign") &&
         add_extension(root, root, NID_subject_key_identifier, "hash");
}

bool add_leaf_extensions(X509* leaf, X509* issuer, GENERAL_NAMES* names) {
  // RFC 5280 §4.2.1.6: critical if the subject is empty.
  const bool no_subject = X509_NAME_entry_count(X509_get_subject_name(leaf)) == 0;
  return add_extension(leaf, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(leaf, issuer, NID_key_usage, "critical,digitalSignature") &&
         add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth") &&
         add_extension(leaf, issuer, NID_subject_key_identifier, "hash") &&
         add_extension(leaf, issuer, NID_authority_key_identifier, "keyid:always") &&
         X509_add1_ext_i2d(leaf, NID_subject_alt_name, names, no_subject ? 1 : 0, 0) == 1;
}

}  // namespace

PrivateKey make_key() {
  PrivateKey key(EVP_EC_gen("P-256"));
  if (key == nullptr) std::abort();  // No randomness or no memory.
  return key;
}

LoadResult<Certificate> make_root(EVP_PKEY* key, const std::string& common_name,
                                  Validity validity) {
  ERR_clear_error();
  Certificate root = start_certificate(key, common_name, validity);
  if (root == nullptr) return openssl_failure();
  X509* raw = root.get();
  if (X509_set_issuer_name(raw, X509_get_subject_name(raw)) != 1 || !add_root_extensions(raw) ||
      X509_sign(raw, key, EVP_sha256()) == 0) {
    return openssl_failure();
  }
  return root;
}

LoadResult<Certificate> make_leaf(EVP_PKEY* key, std::span<const std::string> names,
                                  Validity validity, X509* issuer, EVP_PKEY* issuer_key) {
  ERR_clear_error();
  if (names.empty()) return std::unexpected(LoadError{"a certificate needs a name"});
  const Names alternatives(GENERAL_NAMES_new());
  for (const std::string& name : names) {
    if (!add_alternative(alternatives.get(), name)) return refuse_name(name);
  }
  Certificate leaf = start_certificate(key, names.front(), validity);
  if (leaf == nullptr) return openssl_failure();
  X509* raw = leaf.get();
  if (X509_set_issuer_name(raw, X509_get_subject_name(issuer)) != 1 ||
      !add_leaf_extensions(raw, issuer, alternatives.get()) ||
      X509_sign(raw, issuer_key, EVP_sha256()) == 0) {
    return openssl_failure();
  }
  return leaf;
}

}  // namespace titanium::tls
