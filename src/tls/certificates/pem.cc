// SPDX-License-Identifier: MIT
#include "tls/certificates/pem.h"

#include <openssl/pem.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/ascii.h"

namespace titanium::tls {
namespace {

using GeneralNames = std::unique_ptr<GENERAL_NAMES, CDelete<GENERAL_NAMES_free>>;

std::unexpected<LoadError> fail(std::string what) {
  return std::unexpected(LoadError{std::move(what)});
}

Bio memory_bio(std::string_view text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (bio == nullptr) std::abort();  // Out of memory.
  return bio;
}

std::string drain(BIO* bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(length)};
}

struct PasswordRequest {
  const std::string& password;
  bool asked = false;
};

int give_password(char* buffer, int size, int /*writing*/, void* user_data) noexcept {
  auto& request = *static_cast<PasswordRequest*>(user_data);
  request.asked = true;
  const auto length = std::min(request.password.size(), static_cast<std::size_t>(size));
  std::memcpy(buffer, request.password.data(), length);
  return length == 0 ? -1 : static_cast<int>(length);
}

bool is_end_of_pem(unsigned long entry) {
  return ERR_GET_LIB(entry) == ERR_LIB_PEM && ERR_GET_REASON(entry) == PEM_R_NO_START_LINE;
}

std::string common_name(const X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* utf8 = nullptr;
  const int length =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (length < 0) return {};
  std::string name(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(length));
  OPENSSL_free(utf8);
  return name;
}

LoadResult<KeyPair> check_match(KeyPair pair) {
  if (X509_check_private_key(pair.chain.front().get(), pair.key.get()) == 1) return pair;
  ERR_clear_error();
  return fail("key does not match the certificate");
}

}  // namespace

LoadResult<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(std::string("cannot read: ") + std::strerror(errno));
  std::string text(kMaxPemFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // Opening a folder succeeds, reading it does not.
  if (file.bad()) return fail(std::string("cannot read: ") + std::strerror(errno));
  const auto length = static_cast<std::size_t>(file.gcount());
  if (length > kMaxPemFileBytes) return fail("too large for a certificate or key file");
  if (length == 0) return fail("file is empty");
  text.resize(length);
  return text;
}

LoadResult<std::vector<Certificate>> parse_certificates(std::string_view pem) {
  ERR_clear_error();
  const Bio bio = memory_bio(pem);
  std::vector<Certificate> certificates;
  while (X509* next = PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(next);
  }
  if (!is_end_of_pem(ERR_peek_last_error())) {
    return fail("not a valid certificate: " + take_openssl_text());
  }
  ERR_clear_error();
  if (certificates.empty()) return fail("no certificate in PEM form found");
  return certificates;
}

LoadResult<PrivateKey> parse_private_key(std::string_view pem, const std::string& password) {
  ERR_clear_error();
  const Bio bio = memory_bio(pem);
  PasswordRequest request{.password = password};
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, give_password, &request));
  if (key != nullptr) return key;
  const bool no_key = is_end_of_pem(ERR_peek_last_error());
  const std::string text = take_openssl_text();
  if (request.asked && password.empty()) {
    return fail("private key is encrypted and no password is set");
  }
  if (request.asked) return fail("private key is encrypted and the password does not fit");
  if (no_key || pem.find("PRIVATE KEY-----") == std::string_view::npos) {
    return fail("no private key in PEM form found");
  }
  return fail("not a valid private key: " + text);
}

LoadResult<KeyPair> parse_key_pair(const KeyPairPem& pem) {
  auto chain = parse_certificates(pem.certificate_chain);
  if (!chain) return std::unexpected(std::move(chain.error()));
  auto key = parse_private_key(pem.private_key, {});
  if (!key) return std::unexpected(std::move(key.error()));
  return check_match({.chain = std::move(*chain), .key = std::move(*key)});
}

LoadResult<KeyPair> parse_pkcs12(std::string_view der, const std::string& password) {
  ERR_clear_error();
  const Bio bio = memory_bio(der);
  const Pkcs12 file(d2i_PKCS12_bio(bio.get(), nullptr));
  if (file == nullptr) {
    ERR_clear_error();
    return fail("neither PEM nor PKCS#12");
  }
  EVP_PKEY* key = nullptr;
  X509* leaf = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (PKCS12_parse(file.get(), password.c_str(), &key, &leaf, &others) != 1) {
    const bool wrong = ERR_GET_REASON(ERR_peek_last_error()) == PKCS12_R_MAC_VERIFY_FAILURE;
    const std::string text = take_openssl_text();
    if (!wrong) return fail("PKCS#12 file cannot be read: " + text);
    return fail(password.empty() ? "PKCS#12 file is encrypted and no password is set"
                                 : "PKCS#12 file is encrypted and the password does not fit");
  }
  KeyPair pair;
  pair.key.reset(key);
  if (leaf != nullptr) pair.chain.emplace_back(leaf);
  for (int i = 0; i < sk_X509_num(others); ++i) pair.chain.emplace_back(sk_X509_value(others, i));
  sk_X509_free(others);
  ERR_clear_error();
  if (leaf == nullptr) return fail("PKCS#12 file holds no certificate that fits its key");
  if (key == nullptr) return fail("PKCS#12 file holds no private key");
  return check_match(std::move(pair));
}

std::string to_pem(const X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), certificate) != 1) std::abort();  // Out of memory.
  return drain(bio.get());
}

std::string to_pem(const EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_secmem()));
  if (PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    std::abort();  // Out of memory: a key that was parsed or made here can be written.
  }
  return drain(bio.get());
}

KeyPairPem to_pem(const KeyPair& pair) {
  KeyPairPem pem{.certificate_chain = {}, .private_key = to_pem(pair.key.get())};
  for (const Certificate& certificate : pair.chain) {
    pem.certificate_chain += to_pem(certificate.get());
  }
  return pem;
}

std::vector<std::string> dns_names(const X509* certificate) {
  std::vector<std::string> names;
  const GeneralNames alternatives(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (alternatives == nullptr) {
    if (std::string name = common_name(certificate); !name.empty()) {
      names.push_back(lower_case(name));
    }
    return names;
  }
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_IA5STRING* text = name->d.dNSName;
    names.push_back(lower_case({reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                static_cast<std::size_t>(ASN1_STRING_length(text))}));
  }
  return names;
}

LoadResult<KeyPairPem> load_key_pair(const std::string& certificate_path,
                                     const std::string& key_path, const std::string& password) {
  const auto in_file = [](const std::string& path, const LoadError& error) {
    return fail(path + ": " + error.what);
  };
  auto certificates = read_file(certificate_path);
  if (!certificates) return in_file(certificate_path, certificates.error());
  if (certificates->find("-----BEGIN ") == std::string::npos) {
    auto pair = parse_pkcs12(*certificates, password);
    if (!pair) return in_file(certificate_path, pair.error());
    return to_pem(*pair);
  }
  auto chain = parse_certificates(*certificates);
  if (!chain) return in_file(certificate_path, chain.error());
  // Without a key file of its own, the key may be in the certificate's file.
  const std::string& key_file = key_path.empty() ? certificate_path : key_path;
  auto key_text = read_file(key_file);
  if (!key_text) return in_file(key_file, key_text.error());
  auto key = parse_private_key(*key_text, password);
  if (!key) return in_file(key_file, key.error());
  auto pair = check_match({.chain = std::move(*chain), .key = std::move(*key)});
  if (!pair) return in_file(key_file, pair.error());
  return to_pem(*pair);
}

}  // namespace titanium::tls
