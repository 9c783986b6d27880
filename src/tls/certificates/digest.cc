// SPDX-License-Identifier: MIT
#include "tls/certificates/digest.h"

#include <cstdlib>

#include "tls/openssl_ptr.h"

namespace titanium::tls {

std::array<std::uint8_t, 20> sha1(Bytes bytes) {
  std::array<std::uint8_t, 20> digest{};
  unsigned int length = 0;
  // Fails only without memory or without the default provider: nothing to go on with.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha1(), nullptr) != 1) {
    std::abort();
  }
  return digest;
}

std::string base64_encode(Bytes bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  // Writes a terminating zero behind the text, where std::string keeps one anyway.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace titanium::tls
