// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "tls/context.h"

namespace titanium::tls {

// A certificate authority of our own, for the demo listener now and for interception later.
// ECDSA P-256; root valid 10 years; leaves at most 199 days, back-dated 2 days.
class CertificateAuthority {
 public:
  // Loads root.pem and root.key from `folder`, or creates them there (folder 0700, files 0600,
  // written to a temporary name and linked, so that two processes starting at once agree). Refuses
  // a folder that others can write to and a key that others can read.
  [[nodiscard]] static LoadResult<CertificateAuthority> open_or_create(const std::string& folder);

  // A leaf for these names: DNS names, wildcards, or IP literals; the first is the subject.
  [[nodiscard]] LoadResult<KeyPairPem> issue(std::span<const std::string> names) const;

  [[nodiscard]] const std::string& root_pem() const noexcept { return root_.certificate_chain; }

 private:
  explicit CertificateAuthority(KeyPairPem root) : root_(std::move(root)) {}
  KeyPairPem root_;
};

// The per-user folder for our CA: $XDG_DATA_HOME/titanium, else ~/.local/share/titanium; for a
// user without home, /var/lib/titanium.
[[nodiscard]] std::string default_certificate_folder();

}  // namespace titanium::tls
