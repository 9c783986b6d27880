// SPDX-License-Identifier: MIT
#include "tls/ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace titanium::tls {
namespace {

constexpr int kIvBytes = 16;  // AES-CBC.

void fill_random(std::span<unsigned char> out) {
  // Without randomness no handshake is possible either.
  if (RAND_bytes(out.data(), static_cast<int>(out.size())) != 1) std::abort();
}

bool set_mac_key(EVP_MAC_CTX* mac, std::span<const unsigned char> key) {
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, const_cast<unsigned char*>(key.data()),
                                        key.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(mac, params) == 1;
}

}  // namespace

TicketKeys::TicketKeys(std::chrono::seconds interval, std::size_t kept)
    : clock_([] { return std::chrono::steady_clock::now(); }),
      interval_(std::max(interval, std::chrono::seconds{1})),
      kept_(std::max<std::size_t>(kept, 1)),
      rotated_(clock_()) {
  add_key();
}

TicketKeys::~TicketKeys() {
  for (Key& key : keys_) OPENSSL_cleanse(&key, sizeof key);
}

void TicketKeys::set_clock(Clock clock) {
  const std::lock_guard lock(mutex_);
  clock_ = std::move(clock);
  rotated_ = clock_();
}

void TicketKeys::add_key() {
  Key key;
  fill_random(key.name);
  fill_random(key.cipher);
  fill_random(key.mac);
  keys_.push_front(key);
  OPENSSL_cleanse(&key, sizeof key);
  if (keys_.size() > kept_) {
    OPENSSL_cleanse(&keys_.back(), sizeof(Key));
    keys_.pop_back();
  }
}

void TicketKeys::rotate() {
  const auto missed = (clock_() - rotated_) / interval_;
  if (missed <= 0) return;
  rotated_ += missed * interval_;
  // After a quiet night the old keys are as old as if they had been replaced each time.
  const auto wanted = std::min(static_cast<std::size_t>(missed), kept_);
  for (std::size_t i = 0; i < wanted; ++i) add_key();
}

bool TicketKeys::seal(std::span<unsigned char, 16> name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                      EVP_MAC_CTX* mac) {
  const std::lock_guard lock(mutex_);
  rotate();
  const Key& key = keys_.front();
  std::ranges::copy(key.name, name.begin());
  fill_random({iv, kIvBytes});
  return EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), key.cipher.data(), iv, nullptr) == 1 &&
         set_mac_key(mac, key.mac);
}

TicketKeys::Opened TicketKeys::open(std::span<const unsigned char, 16> name,
                                    const unsigned char* iv, EVP_CIPHER_CTX* cipher,
                                    EVP_MAC_CTX* mac) {
  const std::lock_guard lock(mutex_);
  rotate();
  const auto key = std::ranges::find_if(
      keys_, [&](const Key& candidate) { return std::ranges::equal(candidate.name, name); });
  if (key == keys_.end()) return Opened::unknown_key;
  if (EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), key->cipher.data(), iv, nullptr) != 1 ||
      !set_mac_key(mac, key->mac)) {
    return Opened::failed;
  }
  return key == keys_.begin() ? Opened::current_key : Opened::older_key;
}

}  // namespace titanium::tls
