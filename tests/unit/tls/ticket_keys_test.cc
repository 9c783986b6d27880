// SPDX-License-Identifier: MIT
#include "tls/ticket_keys.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tls/openssl_ptr.h"

namespace titanium::tls {
namespace {

using std::chrono::seconds;
using Mac = std::unique_ptr<EVP_MAC, CDelete<EVP_MAC_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, CDelete<EVP_MAC_CTX_free>>;
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CDelete<EVP_CIPHER_CTX_free>>;

class TicketKeysTest : public ::testing::Test {
 protected:
  TicketKeysTest() {
    keys.set_clock([this] { return now; });
  }

  struct Sealed {
    std::array<unsigned char, 16> name{};
    std::array<unsigned char, 16> iv{};
  };
  Sealed seal() {
    Sealed sealed;
    EXPECT_TRUE(keys.seal(sealed.name, sealed.iv.data(), cipher.get(), mac.get()));
    return sealed;
  }
  TicketKeys::Opened open(const Sealed& sealed) {
    return keys.open(sealed.name, sealed.iv.data(), cipher.get(), mac.get());
  }

  std::chrono::steady_clock::time_point now{};
  TicketKeys keys{seconds{10}, 3};
  Mac hmac{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
  MacContext mac{EVP_MAC_CTX_new(hmac.get())};
  CipherContext cipher{EVP_CIPHER_CTX_new()};
};

TEST_F(TicketKeysTest, OpensWithTheKeyThatSealed) {
  const Sealed first = seal();
  EXPECT_EQ(open(first), TicketKeys::Opened::current_key);
  const Sealed second = seal();
  EXPECT_EQ(first.name, second.name);
  EXPECT_NE(first.iv, second.iv);
}

TEST_F(TicketKeysTest, KnowsNoForeignKey) {
  EXPECT_EQ(open(Sealed{}), TicketKeys::Opened::unknown_key);
  TicketKeys others(seconds{10}, 3);
  Sealed foreign;
  ASSERT_TRUE(others.seal(foreign.name, foreign.iv.data(), cipher.get(), mac.get()));
  EXPECT_EQ(open(foreign), TicketKeys::Opened::unknown_key);
}

TEST_F(TicketKeysTest, ReplacesTheKeyAtTheIntervalAndKeepsSome) {
  const Sealed sealed = seal();
  now += seconds{9};
  EXPECT_EQ(open(sealed), TicketKeys::Opened::current_key);
  now += seconds{1};
  EXPECT_EQ(open(sealed), TicketKeys::Opened::older_key);
  EXPECT_NE(seal().name, sealed.name);
  now += seconds{10};
  EXPECT_EQ(open(sealed), TicketKeys::Opened::older_key);
  now += seconds{10};
  EXPECT_EQ(open(sealed), TicketKeys::Opened::unknown_key) << "three newer ones exist";
}

TEST_F(TicketKeysTest, ForgetsOldKeysAfterAQuietNight) {
  const Sealed sealed = seal();
  now += seconds{1'000'000};
  EXPECT_EQ(open(sealed), TicketKeys::Opened::unknown_key);
}

TEST_F(TicketKeysTest, KeepsOneKeyAtLeast) {
  TicketKeys few(seconds{0}, 0);
  few.set_clock([this] { return now; });
  Sealed sealed;
  ASSERT_TRUE(few.seal(sealed.name, sealed.iv.data(), cipher.get(), mac.get()));
  EXPECT_EQ(few.open(sealed.name, sealed.iv.data(), cipher.get(), mac.get()),
            TicketKeys::Opened::current_key);
}

}  // namespace
}  // namespace titanium::tls
