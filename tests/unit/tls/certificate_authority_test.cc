// SPDX-License-Identifier: MIT
#include "tls/certificates/certificate_authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "tls_fixture.h"

namespace titanium::tls {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CertificateAuthorityTest : public ::testing::Test {
 protected:
  CertificateAuthorityTest() {
    std::string name = ::testing::TempDir() + "titanium_ca_XXXXXX";
    base = ::mkdtemp(name.data());
    folder = base + "/share/titanium";
  }
  ~CertificateAuthorityTest() override { std::filesystem::remove_all(base); }

  static unsigned mode_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }
  std::string failure() const {
    const auto opened = CertificateAuthority::open_or_create(folder);
    return opened ? "opened" : opened.error().what;
  }
  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  std::string base;
  std::string folder;
};

TEST_F(CertificateAuthorityTest, IsMadeOnceAndLoadedThen) {
  const auto made = CertificateAuthority::open_or_create(folder);
  ASSERT_TRUE(made.has_value()) << made.error().what;
  const auto loaded = CertificateAuthority::open_or_create(folder);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().what;
  EXPECT_EQ(made->root_pem(), loaded->root_pem());
  EXPECT_EQ(mode_of(folder), 0700U);
  EXPECT_EQ(mode_of(base + "/share"), 0700U);
  EXPECT_EQ(mode_of(folder + "/root.key"), 0600U);
  EXPECT_EQ(count_files(), 2U) << "no temporary file stays";
}

TEST_F(CertificateAuthorityTest, HasARootForLeavesOnly) {
  const auto authority = CertificateAuthority::open_or_create(folder).value();
  const auto certificates = parse_certificates(authority.root_pem()).value();
  X509* root = certificates.front().get();
  EXPECT_EQ(X509_check_ca(root), 1);
  EXPECT_EQ(X509_get_pathlen(root), 0);
  EXPECT_EQ(X509_get_key_usage(root), static_cast<std::uint32_t>(KU_KEY_CERT_SIGN | KU_CRL_SIGN));
  EXPECT_NE(X509_get0_subject_key_id(root), nullptr);
}

TEST_F(CertificateAuthorityTest, RefusesAFolderOrKeyThatOthersCanTouch) {
  struct Case {
    std::string file;
    mode_t mode;
    std::string what;
  };
  const Case cases[] = {
      {folder, 0770, folder + ": other users can write to this folder"},
      {folder, 0702, folder + ": other users can write to this folder"},
      {folder + "/root.key", 0640, folder + "/root.key: other users can read this CA key"},
      {folder + "/root.key", 0604, folder + "/root.key: other users can read this CA key"},
  };
  ASSERT_EQ(failure(), "opened");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const unsigned before = mode_of(c.file);
    ASSERT_EQ(::chmod(c.file.c_str(), c.mode), 0);
    EXPECT_THAT(failure(), StartsWith(c.what));
    ASSERT_EQ(::chmod(c.file.c_str(), before), 0);
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_EQ(failure(), "opened") << "others may look at the certificate";
}

TEST_F(CertificateAuthorityTest, SaysWhatIsWrongWithItsFiles) {
  const auto put = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder + "/" + name, std::ios::trunc) << content;
  };
  ASSERT_EQ(failure(), "opened");
  const std::string key = read_file(folder + "/root.key").value();
  const std::string root = read_file(folder + "/root.pem").value();

  put("root.pem", "x");
  EXPECT_THAT(failure(), HasSubstr("root.pem: neither PEM nor PKCS#12"));
  put("root.pem", TestAuthority().pem());
  EXPECT_THAT(failure(), HasSubstr("root.key: key does not match the certificate"));
  const KeyPairPem leaf = TestAuthority().issue({"a.example"});
  put("root.pem", leaf.certificate_chain);
  put("root.key", leaf.private_key);
  EXPECT_THAT(failure(), HasSubstr("root.pem: is not the certificate of a CA"));
  const PrivateKey old_key = parse_private_key(key, {}).value();
  const auto old_root = make_root(old_key.get(), "old", TestAuthority::days(-10, -1)).value();
  put("root.pem", to_pem(old_root.get()));
  put("root.key", key);
  EXPECT_THAT(failure(), HasSubstr("root.pem: has expired"));
  put("root.pem", root);
  EXPECT_EQ(failure(), "opened");
  ::unlink((folder + "/root.key").c_str());
  EXPECT_THAT(failure(), HasSubstr("root.key: missing, but its certificate"));
}

TEST_F(CertificateAuthorityTest, CompletesAPairThatWasHalfMade) {
  ASSERT_EQ(failure(), "opened");
  const std::string key = read_file(folder + "/root.key").value();
  ::unlink((folder + "/root.pem").c_str());
  EXPECT_EQ(failure(), "opened");
  EXPECT_EQ(read_file(folder + "/root.key").value(), key);
}

TEST_F(CertificateAuthorityTest, FailsWhereNoFolderCanBe) {
  EXPECT_FALSE(CertificateAuthority::open_or_create("").has_value());
  const auto opened = CertificateAuthority::open_or_create("/proc/titanium/x");
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().what, StartsWith("/proc/titanium: cannot create folder: "));
}

TEST_F(CertificateAuthorityTest, IsTheSameForProcessesAndThreadsThatStartAtOnce) {
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove_all(folder);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto opened = CertificateAuthority::open_or_create(folder);
        if (opened) std::ofstream(base + "/seen" + std::to_string(i)) << opened->root_pem();
        ::_exit(opened ? 0 : 1);
      }
      children.push_back(child);
    }
    std::vector<std::string> seen(4);
    {
      std::vector<std::jthread> threads;
      for (std::string& root : seen) {
        threads.emplace_back([this, &root] {
          const auto opened = CertificateAuthority::open_or_create(folder);
          root = opened ? opened->root_pem() : opened.error().what;
        });
      }
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
      int status = -1;
      ASSERT_EQ(::waitpid(children[i], &status, 0), children[i]);
      EXPECT_EQ(status, 0);
      seen.push_back(read_file(base + "/seen" + std::to_string(i)).value());
    }
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 1U);
    EXPECT_THAT(seen.front(), StartsWith("-----BEGIN CERTIFICATE-----"));
    EXPECT_EQ(count_files(), 2U);
  }
}

// Whether a leaf passes the checks of a TLS client for this name.
std::string verify(const KeyPairPem& pair, const std::string& root_pem, const std::string& name,
                   bool is_address) {
  using Store = std::unique_ptr<X509_STORE, CDelete<X509_STORE_free>>;
  using StoreContext = std::unique_ptr<X509_STORE_CTX, CDelete<X509_STORE_CTX_free>>;
  const auto root = parse_certificates(root_pem).value();
  const auto chain = parse_certificates(pair.certificate_chain).value();
  const Store store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), root.front().get());
  const StoreContext context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), nullptr);
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT);
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_SERVER);
  if (is_address) {
    X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size());
  }
  if (X509_verify_cert(context.get()) == 1) return "ok";
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
}

TEST_F(CertificateAuthorityTest, IssuesLeavesThatStrictClientsAccept) {
  const auto authority = CertificateAuthority::open_or_create(folder).value();
  const std::vector<std::string> names = {"localhost", "*.example.org", "127.0.0.1", "::1"};
  const auto pair = authority.issue(names);
  ASSERT_TRUE(pair.has_value()) << pair.error().what;
  EXPECT_EQ(verify(*pair, authority.root_pem(), "localhost", false), "ok");
  EXPECT_EQ(verify(*pair, authority.root_pem(), "www.example.org", false), "ok");
  EXPECT_EQ(verify(*pair, authority.root_pem(), "127.0.0.1", true), "ok");
  EXPECT_EQ(verify(*pair, authority.root_pem(), "::1", true), "ok");
  EXPECT_EQ(verify(*pair, authority.root_pem(), "example.com", false), "hostname mismatch");
  EXPECT_TRUE(ServerContext::create({.key_pairs = {*pair}}).has_value());

  const auto chain = parse_certificates(pair->certificate_chain).value();
  ASSERT_EQ(chain.size(), 2U) << "the leaf and its root";
  X509* leaf = chain.front().get();
  int days = 0;
  int seconds = 0;
  ASSERT_EQ(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(leaf), X509_get0_notAfter(leaf)),
            1);
  EXPECT_EQ(days, 199);
  EXPECT_EQ(X509_check_ca(leaf), 0);
  EXPECT_EQ(X509_get_extended_key_usage(leaf), static_cast<std::uint32_t>(XKU_SSL_SERVER));
  const auto again = parse_certificates(authority.issue(names)->certificate_chain).value();
  EXPECT_NE(
      ASN1_INTEGER_cmp(X509_get0_serialNumber(leaf), X509_get0_serialNumber(again.front().get())),
      0);
}

TEST_F(CertificateAuthorityTest, IssuesForALongNameToo) {
  const auto authority = CertificateAuthority::open_or_create(folder).value();
  const std::string label(60, 'a');
  const std::vector<std::string> names = {label + "." + label + ".example"};
  const auto pair = authority.issue(names);
  ASSERT_TRUE(pair.has_value()) << pair.error().what;
  EXPECT_EQ(verify(*pair, authority.root_pem(), names.front(), false), "ok");
}

TEST_F(CertificateAuthorityTest, RefusesWhatIsNoName) {
  const auto authority = CertificateAuthority::open_or_create(folder).value();
  const std::string bad[] = {
      "",
      "*",
      "*.",
      ".",
      "a..b",
      ".a",
      "a b",
      "a,DNS:b",
      "a*.b",
      "*.*.b",
      "[::1]",
      "a/b",
      std::string("a\0b", 3),
      std::string(254, 'a'),
      "\xc3\xa4.example",
  };
  for (const std::string& name : bad) {
    SCOPED_TRACE(name);
    const std::vector<std::string> names = {"a.example", name};
    EXPECT_FALSE(authority.issue(names).has_value());
  }
  EXPECT_FALSE(authority.issue({}).has_value());
}

TEST(DefaultCertificateFolder, FollowsTheEnvironment) {
  const auto with = [](const char* data, const char* home) {
    data != nullptr ? ::setenv("XDG_DATA_HOME", data, 1) : ::unsetenv("XDG_DATA_HOME");
    ::setenv("HOME", home, 1);
    return default_certificate_folder();
  };
  const std::string old_home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  EXPECT_EQ(with("/data", "/tmp"), "/data/titanium");
  EXPECT_EQ(with("relative", "/tmp"), "/tmp/.local/share/titanium");
  EXPECT_EQ(with(nullptr, "/tmp"), "/tmp/.local/share/titanium");
  EXPECT_EQ(with(nullptr, "/nonexistent"), "/var/lib/titanium");
  EXPECT_EQ(with(nullptr, "/"), "/var/lib/titanium");
  ::setenv("HOME", old_home.c_str(), 1);
}

}  // namespace
}  // namespace titanium::tls
