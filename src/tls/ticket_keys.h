// SPDX-License-Identifier: MIT
//
// The keys that session tickets are sealed with (RFC 5077 §4, RFC 8446 §4.6.1).
#pragma once

#include <openssl/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>

namespace titanium::tls {

// A short row of random keys, newest first: the first one seals, all of them open. Keys are
// replaced by time, at the first use after the interval, so an attacker who learns the memory of
// the process can open tickets of the last few intervals only.
//
// Used by all workers; a mutex guards the row, which is taken once per handshake.
class TicketKeys {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  TicketKeys(std::chrono::seconds interval, std::size_t kept);
  ~TicketKeys();
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  // Prepares the contexts to seal a new ticket, or to open one whose key has `name`; `iv` is
  // written or read. These are the two halves of SSL_CTX_set_tlsext_ticket_key_evp_cb(3).
  [[nodiscard]] bool seal(std::span<unsigned char, 16> name, unsigned char* iv,
                          EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);
  enum class Opened : std::uint8_t { failed, unknown_key, current_key, older_key };
  [[nodiscard]] Opened open(std::span<const unsigned char, 16> name, const unsigned char* iv,
                            EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);

  // For tests; before the first use.
  void set_clock(Clock clock);

 private:
  struct Key {
    std::array<unsigned char, 16> name;
    std::array<unsigned char, 32> cipher;
    std::array<unsigned char, 32> mac;
  };
  void rotate();
  void add_key();

  std::mutex mutex_;
  Clock clock_;
  const std::chrono::seconds interval_;
  const std::size_t kept_;
  std::deque<Key> keys_;
  std::chrono::steady_clock::time_point rotated_;
};

}  // namespace titanium::tls
