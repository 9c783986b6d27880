// SPDX-License-Identifier: MIT
#include "tls/certificates/pem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoadKeyPair : public ::testing::Test {
 protected:
  LoadKeyPair() {
    std::string name = ::testing::TempDir() + "titanium_pem_XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~LoadKeyPair() override { std::filesystem::remove_all(folder); }

  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << content;
    return folder + "/" + name;
  }
  static std::string encrypted(const std::string& key_pem, const std::string& password) {
    const PrivateKey key = parse_private_key(key_pem, {}).value();
    const Bio bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), EVP_aes_128_cbc(), password.data(),
                                  static_cast<int>(password.size()), nullptr, nullptr);
    return content_of(bio.get());
  }
  static std::string pkcs12(const KeyPairPem& pem, const std::string& root,
                            const std::string& password) {
    const KeyPair pair = parse_key_pair(pem).value();
    const auto others = parse_certificates(root).value();
    STACK_OF(X509)* stack = sk_X509_new_null();
    sk_X509_push(stack, others.front().get());
    const Pkcs12 file(PKCS12_create(password.c_str(), "name", pair.key.get(),
                                    pair.chain.front().get(), stack, 0, 0, 0, 0, 0));
    sk_X509_free(stack);
    const Bio bio(BIO_new(BIO_s_mem()));
    i2d_PKCS12_bio(bio.get(), file.get());
    return content_of(bio.get());
  }
  static std::string content_of(BIO* bio) {
    char* data = nullptr;
    const long length = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(length)};
  }

  std::string folder;
  TestAuthority authority;
  KeyPairPem good = authority.issue({"a.example"});
};

TEST_F(LoadKeyPair, ReadsEveryForm) {
  const std::string chain = good.certificate_chain + authority.pem();
  const std::string certificate = put("a.pem", chain);
  struct Case {
    std::string_view name;
    std::string certificate_path;
    std::string key_path;
    std::string password;
  };
  const Case cases[] = {
      {"two PEM files", certificate, put("a.key", good.private_key), ""},
      {"one PEM file", put("both.pem", good.private_key + chain), "", ""},
      {"encrypted key", certificate, put("e.key", encrypted(good.private_key, "pass word")),
       "pass word"},
      {"text around the blocks", put("text.pem", "Subject: a\n" + chain + "the end\n"),
       put("text.key", "Key:\n" + good.private_key), ""},
      {"PKCS#12", put("a.pfx", pkcs12(good, authority.pem(), "secret")), "", "secret"},
      {"PKCS#12 without password", put("b.pfx", pkcs12(good, authority.pem(), "")), "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name));
    const auto pair = load_key_pair(c.certificate_path, c.key_path, c.password);
    ASSERT_TRUE(pair.has_value()) << pair.error().what;
    EXPECT_EQ(pair->certificate_chain, chain);
    EXPECT_EQ(pair->private_key, good.private_key);
    EXPECT_TRUE(ServerContext::create({.key_pairs = {*pair}}).has_value());
  }
}

TEST_F(LoadKeyPair, SaysWhichFileIsWrongAndHow) {
  const std::string certificate = put("a.pem", good.certificate_chain);
  const std::string key = put("a.key", good.private_key);
  const std::string locked = put("locked.key", encrypted(good.private_key, "secret"));
  const std::string other = put("other.key", authority.issue({"a.example"}).private_key);
  const std::string archive = put("a.pfx", pkcs12(good, authority.pem(), "secret"));
  const std::string empty = put("empty", "");
  const std::string torn = put("torn.pem", good.certificate_chain.substr(0, 200));
  const std::string torn_key = put("torn.key", good.private_key.substr(0, 60) + "\n");
  const std::string noise = put("noise", std::string("\x01\x02\x03", 3));
  const std::string large = put("large", std::string(kMaxPemFileBytes + 1, 'x'));
  const std::string missing = folder + "/missing";
  struct Case {
    std::string certificate_path;
    std::string key_path;
    std::string password;
    std::string what;
  };
  const Case cases[] = {
      {missing, key, "", missing + ": cannot read: No such file or directory"},
      {certificate, missing, "", missing + ": cannot read: No such file or directory"},
      {folder, key, "", folder + ": cannot read: Is a directory"},
      {empty, key, "", empty + ": file is empty"},
      {large, key, "", large + ": too large for a certificate or key file"},
      {torn, key, "", torn + ": not a valid certificate: "},
      {noise, key, "", noise + ": neither PEM nor PKCS#12"},
      {key, key, "", key + ": no certificate in PEM form found"},
      {certificate, "", "", certificate + ": no private key in PEM form found"},
      {certificate, certificate, "", certificate + ": no private key in PEM form found"},
      {certificate, torn_key, "", torn_key + ": not a valid private key: "},
      {certificate, other, "", other + ": key does not match the certificate"},
      {certificate, locked, "", locked + ": private key is encrypted and no password is set"},
      {certificate, locked, "x",
       locked + ": private key is encrypted and the password does not fit"},
      {archive, "", "", archive + ": PKCS#12 file is encrypted and no password is set"},
      {archive, "", "x", archive + ": PKCS#12 file is encrypted and the password does not fit"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto pair = load_key_pair(c.certificate_path, c.key_path, c.password);
    ASSERT_FALSE(pair.has_value());
    EXPECT_THAT(pair.error().what, ::testing::StartsWith(c.what));
    EXPECT_EQ(ERR_peek_error(), 0U) << "nothing stays in the error queue";
  }
}

TEST(DnsNames, AreTheAlternativeNamesInLowerCase) {
  const TestAuthority authority;
  const KeyPair pair =
      parse_key_pair(authority.issue({"A.Example", "*.b.example", "127.0.0.1"})).value();
  EXPECT_THAT(dns_names(pair.chain.front().get()), ElementsAre("a.example", "*.b.example"));
  const auto root = parse_certificates(TestAuthority("Root.Example").pem()).value();
  EXPECT_THAT(dns_names(root.front().get()), ElementsAre("root.example"));
}

}  // namespace
}  // namespace titanium::tls
